import { systemClock } from "@tenure/kernel";
import { waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { Load } from "./load.ts";
import { acquire, read, renew } from "./requests.ts";

const partitions = Array.from({ length: 8 }, (_, partition) => partition);

/** The replica that owns most partitions. */
function busiest(deployment: Deployment): string {
  const owners = partitions.map((partition) => deployment.ownerOf(partition));
  const count = (name: string) => owners.filter((owner) => owner === name).length;
  return [...deployment.replicas.keys()].toSorted((left, right) => count(right) - count(left))[0] ?? "";
}

/** Nothing acknowledged is lost, and nobody but the last acknowledged holder holds. */
async function checkLoad(deployment: Deployment, load: Load): Promise<void> {
  expect(load.surprises).toEqual([]);
  for (const tokens of load.tokens.values()) {
    expect(tokens.every((token, index) => index === 0 || token > (tokens[index - 1] ?? 0n))).toBe(true);
  }
  for (const [name, expected] of load.expected) {
    const holds = (await read(deployment, name)).holds.map(({ holder, token }) => ({ holder, token }));
    expect(holds).toEqual(expected === undefined ? [] : [expected]);
  }
}

/** Terms that were held before the failure are renewed after it, with the tokens that they had. */
async function holdMany(deployment: Deployment, count: number) {
  const names = Array.from({ length: count }, (_, index) => `kept-${index}`);
  const tokens = await Promise.all(
    names.map(async (name) => (await acquire(deployment, "keeper", name, 60_000)).token),
  );
  return async () => {
    const results = await Promise.all(
      names.map((name, index) => renew(deployment, "keeper", name, tokens[index] ?? 0n, 2n)),
    );
    expect(results.filter((result) => result?.failure !== undefined)).toEqual([]);
    const stolen = await Promise.allSettled(names.map((name) => acquire(deployment, "thief", name)));
    expect(stolen.filter(({ status }) => status === "fulfilled")).toEqual([]);
  };
}

function say(text: string): void {
  process.stdout.write(`measured: ${text}\n`);
}

async function running(load: Load, count: number): Promise<void> {
  const wanted = load.acknowledged.length + count;
  await waitFor(() => load.acknowledged.length >= wanted, { describe: `${count} operations`, timeoutMs: 60_000 });
}

/** Every partition has acknowledged something since the given instant. */
async function resumed(load: Load, sinceMs: number): Promise<void> {
  const isServed = (partition: number) =>
    load.acknowledged.some((one) => one.partition === partition && one.atMs - one.tookMs > sinceMs);
  await waitFor(() => partitions.every(isServed), { describe: "every partition to be served", timeoutMs: 60_000 });
}

describe("three replicas under load", () => {
  it("lose nothing that was acknowledged when an owner is killed, and serve its partitions again", async () => {
    await using deployment = await startDeployment(3);
    const checkKept = await holdMany(deployment, 50);
    const load = new Load(deployment, 128);
    await running(load, 5_000);
    const rate = load.rate;
    const victim = busiest(deployment);
    const killedAtMs = systemClock.now();
    await deployment.replicas.get(victim)?.kill9();
    await resumed(load, killedAtMs);
    await running(load, 1_000);
    const gapMs = Math.round(load.longestGapMs(killedAtMs, systemClock.now()));
    await load.stop();
    say(`kill -9 at ${Math.round(rate)} operations/s (p99 ${Math.round(load.percentileMs(0.99))} ms): gap ${gapMs} ms`);
    await checkKept();
    await checkLoad(deployment, load);
  }, 120_000);

  it("hand over before they stop, without losing or failing anything", async () => {
    await using deployment = await startDeployment(3);
    const checkKept = await holdMany(deployment, 50);
    const load = new Load(deployment, 64);
    await running(load, 5_000);
    const victim = busiest(deployment);
    const owned = partitions.filter((partition) => deployment.ownerOf(partition) === victim);
    expect(owned.length).toBeGreaterThan(0);
    const stoppedAtMs = systemClock.now();
    const replica = deployment.replicas.get(victim);
    replica?.terminate();
    expect(await replica?.waitForExit()).toEqual({ code: 0, signal: null });
    await resumed(load, stoppedAtMs);
    await running(load, 1_000);
    const gapMs = Math.round(load.longestGapMs(stoppedAtMs, systemClock.now()));
    await load.stop();
    say(`hand-over of ${owned.length} partitions: longest gap ${gapMs} ms`);
    await waitFor(() => owned.every((partition) => deployment.ownerOf(partition) !== victim), {
      describe: "new owners",
    });
    await checkKept();
    await checkLoad(deployment, load);
  }, 120_000);

  it("recover from a restart of NATS and lose nothing that was acknowledged", async () => {
    await using deployment = await startDeployment(3);
    const checkKept = await holdMany(deployment, 20);
    const load = new Load(deployment, 32);
    await running(load, 2_000);
    await deployment.nats.kill9();
    await deployment.nats.restart();
    const restartedAtMs = systemClock.now();
    await resumed(load, restartedAtMs);
    const gapMs = Math.round(load.longestGapMs(restartedAtMs, systemClock.now()));
    await load.stop();
    say(`NATS restart: served again everywhere after at most ${gapMs} ms without an answer`);
    await checkKept();
    await checkLoad(deployment, load);
  }, 120_000);
});
