import type { LeaseKey } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import { isLive, leaveQueue, noteBeat } from "./waiters.ts";

/** Marks a lease whose queue should be looked at again. */
export function stir(owned: OwnedPartition, lease: LeaseKey): void {
  if (owned.waiters.queues.has(lease)) owned.stirred.add(lease);
}

/** Stirs every queue that time alone may let move by now. */
export function stirDue(owned: OwnedPartition, now: number): void {
  for (const [lease, atMs] of owned.waiters.lookAgainAtMs) {
    if (atMs > now) continue;
    owned.waiters.lookAgainAtMs.delete(lease);
    stir(owned, lease);
  }
}

/** Notes a numbered beat of a wait; false if it is not known here. One that was silent may be due now. */
export function beatWaiter(owned: OwnedPartition, id: string, beatNumber: bigint, now: number): boolean {
  const waiter = owned.waiters.byId.get(id);
  if (waiter !== undefined && !isLive(waiter, now)) for (const { lease } of waiter.command.claims) stir(owned, lease);
  return noteBeat(owned.waiters, id, beatNumber, now);
}

/** Takes a claim out of the queue because its caller has gone; whoever stood behind it may be due. */
export function abandonWait(owned: OwnedPartition, id: string): boolean {
  const waiter = owned.waiters.byId.get(id);
  const isKnown = leaveQueue(owned.waiters, id);
  for (const { lease } of waiter?.command.claims ?? []) stir(owned, lease);
  return isKnown;
}
