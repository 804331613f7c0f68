import { commands } from "@tenure/cli";
import { startScript } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changing } from "./changing.ts";
import { collecting } from "./collecting.ts";
import { demoFile } from "./command-line.ts";
import { running } from "./running.ts";
import { closeScene, deployment, lines, openScene } from "./scene.ts";
import { seeing } from "./seeing.ts";

beforeAll(openScene, 240_000);
afterAll(closeScene, 120_000);

/** A busy machine may take its time for each of many calls. */
const patient = { timeout: 180_000 };

describe("seeing", patient, seeing);
describe("changing", patient, changing);
describe("running", patient, running);
describe("collecting", patient, collecting);

it("every command was run, here or in the other files", () => {
  const elsewhere = new Set(["completion", "context", "exec", "lock"]);
  const wasRun = (path: readonly string[]) => lines.some((line) => path.every((word, index) => line[index] === word));
  const missing = commands.filter(({ path }) => !elsewhere.has(path[0] ?? "") && !wasRun(path));
  expect(missing.map(({ path }) => path.join(" "))).toEqual([]);
});

describe.runIf(process.env.TENURE_LONG === "1")("the demo", { timeout: 600_000 }, () => {
  it("tells its story to the end", async () => {
    const demo = startScript(demoFile, { args: [deployment.grpc()] });
    expect((await demo.waitForExit({ timeoutMs: 600_000 })).code, demo.output.tail(40)).toBe(0);
    const told = demo.output.all.join("\n");
    expect(told).toMatch(
      /a fleet of three starts.*leads with token.*an upgrade.*is killed.*route runs in new-manager/s,
    );
    expect(told).toContain("What to try next");
  });
});
