import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Refusal } from "../partition/reply.ts";
import { existingLease } from "../partition/state.ts";
import { type LeaseRecord, shownRevisionOf } from "../record/lease.ts";
import { defaultLeaseSpec, type LeaseSpec } from "../record/lease-spec.ts";
import { openSequence } from "../record/position.ts";
import { checkLeaseSpec } from "../validation/lease-spec.ts";
import { checkMissing, creationEvents } from "./creation.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { checkRevision, revisionConflict } from "./permission.ts";
import { decideWrittenCreate, decideWrittenUpdate } from "./written-hold.ts";

/**
 * Changes what clients may set, if the revision is the expected one. Running terms keep their own durations (rule 16).
 * A client's token or transitions have no place in the command, so they cannot be set (statement 39).
 */
export function decideUpdate(owned: OwnedPartition, command: CommandOf<"update">, now: number): Decision {
  const { lease, written } = command;
  const record = existingLease(owned.state, lease);
  if (record === undefined) return updateMissing(owned, command, now);
  const spec = Object.keys(command.spec).length === 0 ? record.spec : { ...record.spec, ...command.spec };
  const refusal = checkExpectations(record, command) ?? checkChange(record, spec);
  if (refusal !== undefined) return answer(refusal);
  if (written !== undefined) return decideWrittenUpdate(owned, command, record, spec, written, now);
  if (spec === record.spec) return answer({ kind: "changed", lease, position: undefined });
  const events = [caused(command, { kind: "leaseUpdated", lease, spec })];
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

/** A front that creates on update does so only for a client that never saw the lease (statement 16). */
function updateMissing(owned: OwnedPartition, command: CommandOf<"update">, now: number): Decision {
  const { createIfAbsent, expectedRevision, expectedUid, lease, written } = command;
  if (!createIfAbsent) return answer({ kind: "leaseNotFound", lease });
  if (expectedUid !== undefined) return answer({ kind: "uidConflict", lease });
  if (expectedRevision !== undefined && expectedRevision !== 0n) {
    return answer(revisionConflict(lease, expectedRevision, () => 0n));
  }
  const spec: LeaseSpec = { ...defaultLeaseSpec, ...command.spec };
  const refusal = checkMissing(owned, lease, spec, now);
  if (refusal !== undefined) return answer(refusal);
  if (written !== undefined) return decideWrittenCreate(owned, command, spec, written, now);
  const events = creationEvents(owned, command, lease, spec, now);
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

function checkExpectations(record: LeaseRecord, command: CommandOf<"update">): Refusal | undefined {
  const { expectedRevision: expected, expectedUid, lease, written } = command;
  if (expectedUid !== undefined && expectedUid !== record.uid) return { kind: "uidConflict", lease };
  if (expected === undefined) {
    const rule = "must be given to update a lease that exists";
    return { kind: "invalid", violations: [{ field: "expected_revision", rule, value: "absent" }] };
  }
  if (written === undefined) return checkRevision(lease, record, expected);
  // A compatible front shows the larger of the two revisions, so that is what its clients expect (rule 6).
  const isOpen = record.holds.some((hold) => hold.renewal.sequence === openSequence);
  const isCurrent = shownRevisionOf(record) === expected && !isOpen && record.revision.sequence !== openSequence;
  return isCurrent ? undefined : revisionConflict(lease, expected, () => shownRevisionOf(record));
}

function checkChange(record: LeaseRecord, spec: LeaseSpec): Refusal | undefined {
  if (spec === record.spec) return undefined;
  const violations = checkLeaseSpec(spec);
  if (violations.length > 0) return { kind: "invalid", violations };
  const isModeChanged = (spec.mode === "counted") !== (record.spec.mode === "counted");
  if (!isModeChanged || (record.holds.length === 0 && record.pending === undefined)) return undefined;
  return { kind: "immutable", lease: record.key, field: "spec.mode", why: "the lease is held" };
}
