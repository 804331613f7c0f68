import { expect, test } from "vitest";
import { aptConfiguration, sourceStanza } from "./apt.ts";

test("apt's configuration keeps every folder to itself and runs none of the machine's hooks", () => {
  const lines = aptConfiguration("/private").split("\n");
  for (const setting of [
    "Dir::State",
    "Dir::State::lists",
    "Dir::State::status",
    "Dir::Cache",
    "Dir::Etc::sourceparts",
  ]) {
    expect(lines.find((line) => line.startsWith(`${setting} `))).toContain('"/private/');
  }
  expect(lines).toContain("#clear APT::Update::Post-Invoke-Success;");
});

test("a source is trusted by the given keyring alone", () => {
  const source = { mirror: "http://mirror.example/debian", suite: "unstable", component: "main", keyring: "/keys.gpg" };
  expect(sourceStanza(source)).toBe(
    "Types: deb\nURIs: http://mirror.example/debian\nSuites: unstable\nComponents: main\nSigned-By: /keys.gpg\n",
  );
});
