import { systemClock } from "@tenure/kernel";
import type { Tenure } from "@tenure/sdk";
import { waitFor } from "@tenure/testkit";
import { type Deployment, startDeployment } from "../deployment.ts";
import { reportSpread } from "./report.ts";

/** A candidate that leads until it is told to return. */
class Runner {
  readonly #stop = new AbortController();
  readonly over: Promise<void>;
  finish: (() => void) | undefined;

  constructor(tenure: Tenure, lease: string, binaryVersion: string, onLead: (runner: Runner) => void) {
    const options = { signal: this.#stop.signal, coordinated: { binaryVersion }, onOverrun: "signal-only" } as const;
    this.over = tenure.lead(lease, options, async (term) => {
      onLead(this);
      await new Promise<void>((resolve) => {
        this.finish = resolve;
        if (term.signal.aborted) resolve();
        term.signal.addEventListener("abort", () => resolve(), { once: true });
      });
      this.finish = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.over;
  }
}

async function measureRelease(clients: readonly Tenure[], rounds: number): Promise<void> {
  let leader: Runner | undefined;
  let ledAtMs = 0;
  const runners = clients.map(
    (client) =>
      new Runner(client, "tests/release", "1.20.0", (runner) => {
        leader = runner;
        ledAtMs = systemClock.now();
      }),
  );
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const present = await waitFor(() => leader, { timeoutMs: 30_000, intervalMs: 1 });
    leader = undefined;
    await waitFor(() => present.finish, { timeoutMs: 30_000, intervalMs: 1 });
    const releasedAtMs = systemClock.now();
    present.finish?.();
    await waitFor(() => leader, { timeoutMs: 30_000, intervalMs: 1 });
    took.push(ledAtMs - releasedAtMs);
  }
  reportSpread(`clean release to the next function, ${clients.length} live candidates`, took);
  await Promise.all(runners.map((runner) => runner.stop()));
}

async function measurePreemption(deployment: Deployment, clients: readonly Tenure[], rounds: number): Promise<void> {
  const took: number[] = [];
  const better = await deployment.connect("better");
  let isLed = false;
  const [client] = clients;
  if (client === undefined) return;
  const runner = new Runner(client, "tests/preempt", "1.20.0", () => {
    isLed = true;
  });
  for (let round = 0; round < rounds; round += 1) {
    await waitFor(() => isLed, { timeoutMs: 30_000, intervalMs: 1 });
    isLed = false;
    const registeredAtMs = systemClock.now();
    let ledAtMs: number | undefined;
    const challenger = new Runner(better, "tests/preempt", "1.19.0", () => {
      ledAtMs ??= systemClock.now();
    });
    took.push((await waitFor(() => ledAtMs, { timeoutMs: 30_000, intervalMs: 1 })) - registeredAtMs);
    await challenger.stop();
  }
  reportSpread("a better candidate's registration to its function", took);
  await runner.stop();
  await better.close();
}

/** How long elections take that nobody has to wait for: five clients in this process, everything else in others. */
export async function measureHandOvers(releases: number, preemptions: number): Promise<void> {
  await using deployment = await startDeployment();
  const clients = await Promise.all(["n1", "n2", "n3", "n4", "n5"].map((name) => deployment.connect(name)));
  await measureRelease(clients, releases);
  await measurePreemption(deployment, clients, preemptions);
  await Promise.all(clients.map((client) => client.close()));
}
