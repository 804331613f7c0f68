import { apply } from "./apply/apply.ts";
import { decide } from "./decide/decide.ts";
import { decidePackedRenewal, type PackedRenewal, type PackedResult } from "./decide/renew.ts";
import type { OwnedPartition } from "./partition/batch.ts";
import type { Command } from "./partition/command.ts";
import type { Event } from "./partition/event.ts";
import type { Reply } from "./partition/reply.ts";
import { enqueue } from "./waiting/waiters.ts";

/**
 * Decides a command and takes its events into the open batch, applied at once so that the next command sees them. The
 * reply may leave only after the batch is committed. A dry run decides and takes nothing.
 */
export function execute(owned: OwnedPartition, command: Command, now: number): Reply {
  const { events, reply, waiter } = decide(owned, command, now);
  if (command.isDryRun === true) return reply;
  take(owned, events, now);
  if (waiter !== undefined) {
    enqueue(owned.waiters, waiter);
    // Settling finds out when to look again.
    for (const { lease } of waiter.command.claims) owned.stirred.add(lease);
  }
  return reply;
}

/** Renews many terms of one client at once; see {@link execute} for when the answer may leave. */
export function executePackedRenewal(owned: OwnedPartition, request: PackedRenewal, now: number): PackedResult {
  const result = decidePackedRenewal(owned, request, now);
  take(owned, result.events, now);
  return result;
}

/** Takes decided events into the open batch. */
export function take(owned: OwnedPartition, events: readonly Event[], now: number): void {
  if (events.length === 0) return;
  const { batch, state, stirred, waiters } = owned;
  // What a batch touched counts from when its last command arrived: never too early, which is what judging needs.
  batch.position.seenAtMs = Math.max(batch.position.seenAtMs, now);
  for (const event of events) {
    apply(state, event, batch.position);
    batch.events.push(event);
    if (event.kind === "holdGranted" || event.kind === "holdPending") batch.tokened.add(event.lease);
    if ("lease" in event && waiters.queues.has(event.lease)) stirred.add(event.lease);
  }
}
