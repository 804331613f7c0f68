import { readFileSync } from "node:fs";
import { systemClock } from "@tenure/kernel";
import type { Tenure } from "@tenure/sdk";
import { promisedMs, waitFor } from "@tenure/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Copies } from "./copies.ts";
import { type SdkDeployment, startSdkDeployment } from "./deployment.ts";

/** The shortest that a deployment allows unless told otherwise. */
const leaseDurationMs = 5_000;
/** σ of the deployment. */
const stopBoundMs = 1_000;
/** How many clean stops are timed. */
const handOvers = 5;

let deployment: SdkDeployment;
let observer: Tenure;
let copies: Copies;

beforeAll(async () => {
  deployment = await startSdkDeployment();
  observer = await deployment.connect("grpc", { renewal: "inline" });
}, 120_000);

afterAll(async () => {
  await observer?.close();
  await deployment?.[Symbol.asyncDispose]();
});

beforeEach(() => {
  copies = new Copies(observer, deployment.grpc(), leaseDurationMs);
  copies.start(3);
});

afterEach(() => copies[Symbol.asyncDispose]());

describe("three copies of the example controller", () => {
  it("killed with -9, the leader is followed within the lease duration + 250 ms", async ({ annotate }) => {
    const { copy, token } = await copies.settled(2);
    const boundMs = promisedMs(250);
    const killedAtMs = systemClock.now();
    await copy.process.kill9();
    const next = await copies.leader(token);
    const tookMs = next.atMs - killedAtMs;
    await annotate(`followed ${Math.round(tookMs)} ms after kill -9, lease duration ${leaseDurationMs} ms`);
    expect(next.copy).not.toBe(copy);
    expect(tookMs).toBeLessThanOrEqual(leaseDurationMs + boundMs);
  }, 120_000);

  it("stopped cleanly, the leader is followed within 50 ms and exits with 0", async ({ annotate }) => {
    const boundMs = promisedMs(50);
    const tookMs: number[] = [];
    for (let round = 0; round < handOvers; round += 1) {
      const { copy, token } = await copies.settled(2);
      const stoppedAtMs = systemClock.now();
      copy.process.terminate();
      const next = await copies.leader(token);
      tookMs.push(Math.round(next.atMs - stoppedAtMs));
      expect((await copy.process.waitForExit()).code).toBe(0);
      copies.start(1);
    }
    await annotate(`followed ${tookMs.join(", ")} ms after SIGTERM, bound ${boundMs} ms`);
    expect(Math.max(...tookMs)).toBeLessThanOrEqual(boundMs);
  }, 180_000);

  it("stopped in mid-air past its term and continued, the leader writes no more and says why", async ({ annotate }) => {
    const { copy, token } = await copies.settled(2);
    await copy.process.pause();
    const next = await copies.leader(token);
    await waitFor(async () => (await copies.count())?.token === next.token, { describe: "a write of the next" });
    copy.process.resume();
    const why = await copy.process.waitForLine(/leads no longer: |^tenure: /, { timeoutMs: 30_000 });
    await annotate(`after SIGCONT: ${why}`);
    expect(why).toMatch(/ran out|renewals failed|is over|fenced|ended/);
    const seen = await copies.count();
    await waitFor(async () => Number((await copies.count())?.text) > Number(seen?.text) + 5);
    expect((await copies.count())?.token).toBe(next.token);
  }, 120_000);

  it("blocked past its term, the leader is gone within σ of its deadline", async ({ annotate }) => {
    const { copy, token } = await copies.settled(2);
    process.kill(copy.process.pid, "SIGUSR2");
    const exit = await copy.process.waitForExit({ timeoutMs: 60_000 });
    expect(exit.signal).toBe("SIGKILL");
    const told = copy.lines.find(({ text }) => text.startsWith("tenure: "));
    const endedAgoMs = Number(/ended (\d+) ms ago/.exec(told?.text ?? "")?.[1]);
    const goneAtMs = await copy.endedAtMs;
    const goneAfterMs = endedAgoMs + goneAtMs - (told?.atMs ?? 0);
    await annotate(`gone ${Math.round(goneAfterMs)} ms after its deadline: ${told?.text}`);
    expect(goneAfterMs).toBeLessThanOrEqual(stopBoundMs);
    const next = await copies.leader(token);
    expect(next.atMs).toBeGreaterThan(goneAtMs);
  }, 120_000);
});

describe("the example controller", () => {
  it("has fewer than 40 lines", () => {
    const text = readFileSync(new URL("../../../examples/controller.mjs", import.meta.url), "utf8");
    expect(text.trimEnd().split("\n").length).toBeLessThan(40);
  });
});
