import { systemClock } from "@tenure/kernel";
import type { Figures } from "../benchmark.ts";
import type { PeerClient, Renewer } from "../clients/peer-client.ts";
import { startHandOvers } from "./hand-overs.ts";
import { figuresOf, inLanes } from "./measure.ts";
import { startWatches } from "./watches.ts";

/** What a client process is to do. */
export type Workload =
  | { readonly kind: "pairs"; readonly inFlight: number }
  | { readonly kind: "hand-overs"; readonly waiters: number; readonly restMs: number }
  | { readonly kind: "writes"; readonly inFlight: number; readonly isGuarded: boolean }
  | { readonly kind: "watches"; readonly watchers: number }
  | { readonly kind: "renewals"; readonly leases: number }
  | { readonly kind: "idle"; readonly leases: number }
  | { readonly kind: "connections"; readonly connections: number };

/** Work that is ready to be measured, again and again. */
export type ReadyWork = (durationMs: number) => Promise<Figures>;

/** Makes everything that the work needs. */
export async function startWork(client: PeerClient, workload: Workload): Promise<ReadyWork> {
  switch (workload.kind) {
    case "pairs":
      return (durationMs) => inLanes(workload.inFlight, durationMs, (lane) => client.pair(lane));
    case "hand-overs":
      return await startHandOvers(client, workload.waiters, workload.restMs);
    case "writes":
      return await startWrites(client, workload.inFlight, workload.isGuarded);
    case "watches":
      return await startWatches(client, workload.watchers);
    case "renewals":
      return renewing(await client.renewer(workload.leases));
    case "idle":
      await client.idle(workload.leases);
      return async () => ({});
    case "connections":
      throw new Error("connections are opened by the system's own client");
  }
}

/** Renewals as fast as they go. */
export function renewing(renewer: Renewer): ReadyWork {
  return async (durationMs) => {
    const startedAtMs = systemClock.now();
    const { count, latenciesMs } = await renewer.renewFor(durationMs);
    return figuresOf(count, systemClock.now() - startedAtMs, latenciesMs);
  };
}

async function startWrites(client: PeerClient, inFlight: number, isGuarded: boolean): Promise<ReadyWork> {
  const lanes = Array.from({ length: inFlight }, (_, lane) => client.writer(lane, isGuarded));
  const writers = await Promise.all(lanes);
  return (durationMs) => inLanes(inFlight, durationMs, async (lane) => await writers[lane]?.());
}
