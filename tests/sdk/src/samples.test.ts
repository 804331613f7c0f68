import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startScript } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SdkDeployment, startSdkDeployment } from "./deployment.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = fileURLToPath(new URL("../.results/samples", import.meta.url));
const readme = readFileSync(join(root, "packages/sdk/README.md"), "utf8");
const samples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""], index) => ({ index, code }));

let deployment: SdkDeployment;

beforeAll(async () => {
  deployment = await startSdkDeployment({ election: 1, identity: 1 });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { index, code } of samples) {
    const reachable = code
      .replaceAll("127.0.0.1:8368", deployment.grpc())
      .replaceAll("nats://127.0.0.1:4222", deployment.nats.url);
    writeFileSync(join(folder, `sample-${index}.mts`), `${reachable}\nexport {};\n`);
  }
  const compilerOptions = { noEmit: false, allowImportingTsExtensions: false, outDir: "out", noUnusedLocals: false };
  const config = { extends: join(root, "tsconfig.base.json"), compilerOptions, include: ["*.mts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
}, 120_000);

afterAll(async () => {
  await deployment?.[Symbol.asyncDispose]();
});

describe("every sample of the README", () => {
  it("is found", () => expect(samples.length).toBeGreaterThanOrEqual(7));

  it.each(samples)("runs and ends well: sample $index", async ({ index, code }) => {
    await using running = startScript(join(folder, "out", `sample-${index}.mjs`));
    if (code.includes("SIGTERM")) {
      await running.waitForLine("leading with token");
      running.terminate();
    }
    const { code: exitCode } = await running.waitForExit({ timeoutMs: 60_000 });
    expect(exitCode, running.output.tail()).toBe(0);
  });
});
