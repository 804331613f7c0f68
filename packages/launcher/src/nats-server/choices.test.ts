import { expect, test } from "vitest";
import { choices } from "./choices.ts";

test.each<[NodeJS.Platform, string, RegExp]>([
  [
    "linux",
    "x64",
    /^curl -fsSL https:.*nats-server-v[\d.]+-linux-amd64\.tar\.gz \| tar -xz && TENURE_NATS_SERVER=\$PWD\/nats/,
  ],
  ["linux", "loong64", /^go install github\.com\/nats-io\/nats-server\/v2@v/],
  ["darwin", "arm64", /^brew install nats-server && npm start$/],
  ["win32", "x64", /^choco install nats-server; npm start$/],
])("on %s %s there are three ways out, the first of them an installation", (platform, architecture, install) => {
  const commands = choices(platform, architecture);
  expect(commands).toHaveLength(3);
  expect(commands[0]).toMatch(install);
  expect(commands[1]).toContain("TENURE_NATS_SERVER");
  expect(commands[2]).toContain("TENURE_NATS_URL");
});
