import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import { existingLease } from "../partition/state.ts";
import { elapsedMs } from "../record/position.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { checkRenewalRevision } from "./expire.ts";
import { checkRevision } from "./permission.ts";

/**
 * Deletes a lease. A running term is not freed: the name grants nothing until the term has run out or its holder
 * releases, and the holder's renewal undoes the deletion (rule 15).
 */
export function decideDelete(owned: OwnedPartition, command: CommandOf<"delete">): Decision {
  const { expectedUid, lease } = command;
  const record = existingLease(owned.state, lease);
  if (record === undefined) return answer({ kind: "leaseNotFound", lease });
  if (expectedUid !== undefined && expectedUid !== record.uid) return answer({ kind: "uidConflict", lease });
  const refusal = checkRevision(lease, record, command.expectedRevision);
  if (refusal !== undefined) return answer(refusal);
  const token = record.lastToken;
  const events = [caused(command, { kind: "leaseDeleted", lease, isRemoved: true, token, endReason: "deleted" })];
  const isLingering = record.holds.length > 0;
  return { events, reply: { kind: "deleted", lease, isLingering, position: owned.batch.position } };
}

/**
 * Deletes a lease that is dead by the owner's own clock, or whose identity is gone. One that was renewed in between is
 * spared; a term that runs all the same is left to run out and cannot be renewed (rules 6, 15 and 23).
 */
export function decideCollectLease(owned: OwnedPartition, command: CommandOf<"collectLease">, now: number): Decision {
  const { graceMs, isDependent, lease } = command;
  const record = existingLease(owned.state, lease);
  const spared = answer({ kind: "collected", isCollected: false, position: undefined });
  if (record === undefined) return spared;
  const stale =
    checkRevision(lease, record, command.expectedRevision) ??
    checkRenewalRevision(record, command.expectedRenewalRevision);
  if (stale !== undefined) return spared;
  const isDead =
    record.holds.length === 0
      ? elapsedMs(record.freeSince, now) >= graceMs
      : record.holds.every((hold) => elapsedMs(hold.renewal, now) >= hold.leaseDurationMs + graceMs);
  if (!isDead && !isDependent) return spared;
  const token = record.lastToken;
  const events = [caused(command, { kind: "leaseDeleted", lease, isRemoved: true, token, endReason: "collected" })];
  return { events, reply: { kind: "collected", isCollected: true, position: owned.batch.position } };
}
