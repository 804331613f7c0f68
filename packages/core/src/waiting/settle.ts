import { tryGrant } from "../decide/acquire.ts";
import { remember } from "../decide/decide.ts";
import { take } from "../execute.ts";
import type { LeaseKey } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import { isObstacle, type Reply } from "../partition/reply.ts";
import { markForPrecedence } from "./precedence.ts";
import { stir } from "./stir.ts";
import { endWaits, isLive, leaveQueue, type Waiter } from "./waiters.ts";

/** A wait that is over, and the answer to its claim. */
export interface Settled {
  readonly waiter: Waiter;
  readonly reply: Reply;
}

/**
 * Grants waiting claims of every lease that something happened to, in order. Called after the commands of a batch, so
 * that a release and the grant that follows it are one append. Leases that must wait for the next batch stay stirred.
 */
export function settleWaiters(owned: OwnedPartition, now: number): readonly Settled[] {
  const settled: Settled[] = [];
  for (const lease of [...owned.stirred]) {
    if (settleQueue(owned, lease, settled, now)) owned.stirred.delete(lease);
  }
  return settled;
}

/** Ends waits whose time is over or whose caller has been silent for too long. */
export function endOverdueWaits(owned: OwnedPartition, now: number): readonly Settled[] {
  return endWaits(owned.waiters, now).map((waiter) => {
    const leases = waiter.command.claims.map(({ lease }) => lease);
    for (const lease of leases) stir(owned, lease);
    return { waiter, reply: { kind: "waitEnded", leases } };
  });
}

/** False when a claim of this queue must be looked at again in the next batch. */
function settleQueue(owned: OwnedPartition, lease: LeaseKey, settled: Settled[], now: number): boolean {
  const line = inTurn(owned, lease);
  for (let place = 0; place < line.length; ) {
    const waiter = line[place];
    const became = waiter === undefined ? "passed" : settleOne(owned, lease, waiter, settled, now);
    if (became === "nextBatch") return false;
    if (became === "blocked") return true;
    // Whoever was granted has left the queue, and the next one stands in its place.
    if (line[place] === waiter) place += 1;
  }
  return true;
}

/** Grants one claim if it can be; says whether those behind it may be looked at. */
function settleOne(
  owned: OwnedPartition,
  lease: LeaseKey,
  waiter: Waiter,
  settled: Settled[],
  now: number,
): "passed" | "blocked" | "nextBatch" {
  if (!isLive(waiter, now)) return "passed";
  const { events, reply } = remember(waiter.command, tryGrant(owned, waiter.command, waiter.beatNumber, now));
  if (reply.kind === "nextBatch") return "nextBatch";
  if (isObstacle(reply)) {
    const markAfterMs = markForPrecedence(owned, lease, now);
    const lookAgainMs = Math.min(reply.retryAfterMs ?? Infinity, markAfterMs ?? Infinity);
    if (lookAgainMs !== Infinity) owned.waiters.lookAgainAtMs.set(lease, now + Math.max(1, lookAgainMs));
    // One that claims several leases may be waiting for another of them: it keeps its place and holds nobody up.
    return waiter.command.claims.length === 1 ? "blocked" : "passed";
  }
  take(owned, events, now);
  leaveQueue(owned.waiters, waiter.id);
  settled.push({ waiter, reply });
  return "passed";
}

/** The queue in its order; a named successor that waits comes first. */
function inTurn({ state, waiters }: OwnedPartition, lease: LeaseKey): readonly Waiter[] {
  const queue = waiters.queues.get(lease) ?? [];
  const preferred = state.leases.get(lease)?.preferredHolder ?? "";
  if (preferred === "") return queue;
  const isPreferred = (waiter: Waiter) => waiter.command.claimant.holder === preferred;
  return [...queue.filter(isPreferred), ...queue.filter((waiter) => !isPreferred(waiter))];
}
