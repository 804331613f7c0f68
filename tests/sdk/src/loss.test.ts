import { fileURLToPath } from "node:url";
import type { Tenure } from "@tenure/sdk";
import { type ManagedProcess, startScript } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SdkDeployment, startSdkDeployment } from "./deployment.ts";

const daemon = fileURLToPath(new URL("../programs/daemon.mjs", import.meta.url));

let deployment: SdkDeployment;
let operator: Tenure;

beforeAll(async () => {
  deployment = await startSdkDeployment();
  operator = await deployment.connect("nats", { renewal: "inline" });
}, 120_000);

afterAll(async () => {
  await operator?.close();
  await deployment?.[Symbol.asyncDispose]();
});

/** A daemon that leads. */
async function startDaemon(lease: string, manner = "polite"): Promise<ManagedProcess> {
  const started = startScript(daemon, { args: [lease, deployment.grpc(), manner] });
  await started.waitForLine("leads with token", { timeoutMs: 60_000 });
  return started;
}

async function revoke(lease: string): Promise<void> {
  const { revision = 0n } = (await operator.leases.get(lease)) ?? {};
  await operator.leases.revoke(lease, { expectedRevision: revision, reason: "for the test" });
}

describe("a daemon in a process of its own", () => {
  it("[40] exits with 20 when its leadership is lost, and says why", async () => {
    await using running = await startDaemon("lost");
    await revoke("lost");
    expect((await running.waitForExit()).code).toBe(20);
    expect(running.output.all.join("\n")).toMatch(/the leadership of lease tests\/lost .* ended: it was revoked/);
  });

  it("[40] exits with 0 when it was asked to stop", async () => {
    await using running = await startDaemon("stopped");
    running.terminate();
    expect((await running.waitForExit()).code).toBe(0);
  });

  it("whose function does not listen is ended at the deadline, with 20, after a signal within the term", async () => {
    await using running = await startDaemon("stubborn", "stubborn");
    await deployment.process("gateway-1").kill9();
    const told = await running.waitForLine(/told to stop with (\d+) ms left/, { timeoutMs: 30_000 });
    expect(Number(/with (\d+) ms/.exec(told)?.[1])).toBeGreaterThan(0);
    expect((await running.waitForExit()).code).toBe(20);
    expect(running.output.all.join("\n")).toMatch(
      /tests\/stubborn .* is lost: renewals failed for too long.*still runs/,
    );
  });
});
