import { ownerWildcard, partitionRoute } from "@tenure/bus";
import { LeaseServiceAcquireRequest, LeaseServiceReleaseRequest, OwnerBeat } from "@tenure/contracts";
import { leaseKey, partitionOf } from "@tenure/core";
import { Fault, systemClock } from "@tenure/kernel";
import { waitFor } from "@tenure/testkit";
import type { Benchmark, RunOptions, Side } from "../benchmark.ts";
import { quantile } from "../statistics.ts";
import { type StoreDeployment, startStoreDeployment } from "../world/store-deployment.ts";

/** Between a claim that waits and the release everything is left alone for this long. */
const pauseMs = 20;
const namespace = "bench";
/** Hand-overs before the first that counts. */
const warmUp = 128;
const seconds = (count: number) => ({ seconds: BigInt(count), nanos: 0 });

/** How soon the next in line has a lease that its holder gives up. */
export const grant: Benchmark = {
  name: "grant",
  summary: "a holder releases, and the claim that waits is granted, without polling",
  settings: () => [
    "three lease-store replicas, 8 partitions, one NATS server, every write synced",
    `${warmUp} hand-overs before those that count, each on a lease of its own; settings as by default`,
    `one hand-over at a time, ${pauseMs} ms of rest before each; both callers know the owner's route`,
  ],
  sides: [{ name: "store", start: startSide }],
  rows: [0.5, 0.99].map((share) => ({
    name: `grant p${share * 100}`,
    measures: "from the send of the release to the arrival of the grant at the claim that waited",
    unit: "ms" as const,
    read: (round) => round.store?.[`p${share * 100}`],
    ...(share === 0.99 ? { target: { atMost: 10 } } : {}),
  })),
};

async function startSide({ isQuick, nodeOptions }: RunOptions): Promise<Side> {
  const deployment = await startStoreDeployment(nodeOptions === undefined ? {} : { nodeOptions });
  for (let number = 0; number < 3; number += 1) await deployment.start();
  const routes = new Map<number, string>();
  const unsubscribe = deployment.bus.subscribe(ownerWildcard, (payload) => {
    for (const { epoch, partition } of OwnerBeat.decode(payload).owned) {
      routes.set(partition, partitionRoute(partition, epoch));
    }
  });
  await waitFor(() => routes.size === deployment.partitions, { describe: "the owners of all partitions" });
  let number = 0;
  const rounds = isQuick ? 300 : 1_000;
  const run = async (count: number) => {
    const tookMs: number[] = [];
    while (tookMs.length < count) {
      number += 1;
      const took = await handOver(deployment, routes, number).catch(unlessMoved);
      if (took !== undefined) tookMs.push(took);
    }
    return tookMs;
  };
  await run(warmUp);
  return {
    async measure() {
      const tookMs = await run(rounds);
      return { p50: quantile(tookMs, 0.5), p99: quantile(tookMs, 0.99) };
    },
    async [Symbol.asyncDispose]() {
      unsubscribe();
      await deployment[Symbol.asyncDispose]();
    },
  };
}

/** A partition that is handed to another replica in the middle, for balance, is not what is measured here. */
function unlessMoved(thrown: unknown): undefined {
  if (!(thrown instanceof Fault) || thrown.code !== "UNAVAILABLE") throw thrown;
}

/** One holder gives a lease up while another waits for it; how long the grant took. */
async function handOver({ leases, partitions }: StoreDeployment, routes: ReadonlyMap<number, string>, number: number) {
  const lease = { namespace, name: `grant-${number}` };
  const route = routes.get(partitionOf(leaseKey(namespace, lease.name), partitions));
  let attempts = 0n;
  const attempt = () => {
    attempts += 1n;
    return { clientId: `grant-${number}`, number: attempts, settledBelow: 0n };
  };
  const claim = (holder: string, wait?: { readonly timeout: { readonly seconds: bigint; readonly nanos: number } }) => {
    const claims = [{ lease, spec: { leaseDuration: seconds(60) } }];
    const request = { attempt: attempt(), claims, claimant: { holder }, ...(wait === undefined ? {} : { wait }) };
    return leases.acquire(LeaseServiceAcquireRequest.fromPartial(request), { route });
  };
  const release = (token = 0n) =>
    leases.release(LeaseServiceReleaseRequest.fromPartial({ attempt: attempt(), items: [{ lease, token }] }), {
      route,
    });
  const first = await claim("first");
  const granted = claim("second", { timeout: seconds(30) }).then((answer) => ({ answer, atMs: systemClock.now() }));
  granted.catch(() => undefined);
  await systemClock.sleep(pauseMs);
  const sentAtMs = systemClock.now();
  await release(first.grants[0]?.hold?.token);
  const { answer, atMs } = await granted;
  await release(answer.grants[0]?.hold?.token);
  return atMs - sentAtMs;
}
