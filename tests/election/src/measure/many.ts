import { fileURLToPath } from "node:url";
import { systemClock } from "@tenure/kernel";
import { type ManagedProcess, startProcess, waitFor } from "@tenure/testkit";
import { type Deployment, startDeployment } from "../deployment.ts";
import { processorShares, say } from "./report.ts";

const program = fileURLToPath(new URL("../../programs/stands.mjs", import.meta.url));

/** A process that stands for every lease, and how many of them it leads. */
class Stands {
  readonly process: ManagedProcess;
  led = 0;
  /** When it led as many as it does now, on the machine's monotonic clock. */
  atMs = 0;

  constructor(endpoint: string, name: string, version: string, leases: number) {
    const args = [program, name, endpoint, version, String(leases)];
    this.process = startProcess(process.execPath, { name, args });
    this.process.output.onLine((line) => {
      if (!line.startsWith("{")) return;
      const { atMs, led } = JSON.parse(line) as { atMs: number; led: number };
      this.led = led;
      this.atMs = atMs;
    });
    void this.process.ended.then(() => say(`${name} ended: ${this.process.output.tail()}`));
  }

  async leads(leases: number, timeoutMs = 300_000): Promise<void> {
    await waitFor(() => this.led === leases, {
      timeoutMs,
      intervalMs: 5,
      describe: `${this.process.name} to lead all`,
    });
  }
}

/**
 * Many leases with three candidates each, every candidate's process standing for all of them: how long it takes until
 * all are led again after the process that led them all was killed, and what coordinating costs while nothing happens.
 */
export async function measureMany(leases: number, quietSeconds: number): Promise<void> {
  await using deployment: Deployment = await startDeployment();
  const names = ["a", "b", "c"] as const;
  const stands: Stands[] = [];
  const add = (place: number): Stands => {
    const added = new Stands(deployment.grpc(), names[place] ?? "", `1.2${place}.0`, leases);
    stands.push(added);
    return added;
  };
  try {
    const first = add(0);
    await first.leads(leases);
    const second = add(1);
    const third = add(2);
    await Promise.all([second, third].map((one) => one.process.waitForLine("stands", { timeoutMs: 300_000 })));
    await systemClock.sleep(30_000);
    say(`${leases} leases with ${names.length} candidates each are led`);
    say(`steady state: ${await processorShares(deployment, quietSeconds)}`);
    for (const [gone, next] of [
      [first, second],
      [second, third],
    ] as const) {
      if (next.led > 0) say(`${next.process.name} led ${next.led} before`);
      const ledBefore = next.led;
      const killedAtMs = Number(process.hrtime.bigint()) / 1e6;
      await gone.process.kill9();
      const look = () => next.led > ledBefore;
      await waitFor(look, { timeoutMs: 300_000, intervalMs: 1, describe: "the first to be elected" });
      const beganAtMs = next.atMs;
      await next.leads(leases);
      const sinceKill = ((next.atMs - killedAtMs) / 1_000).toFixed(2);
      const sinceFirst = ((next.atMs - beganAtMs) / 1_000).toFixed(2);
      say(`all led again ${sinceKill} s after the kill, which is ${sinceFirst} s after the first; L is 15 s`);
    }
  } finally {
    await Promise.all(stands.map((one) => one.process[Symbol.asyncDispose]()));
  }
}
