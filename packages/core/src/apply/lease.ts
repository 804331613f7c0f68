import { namespaceOf } from "../key.ts";
import type { Cause, LeaseEvent } from "../partition/event.ts";
import { ensureRecord, type PartitionState } from "../partition/state.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { defaultLeaseSpec, shareSpec } from "../record/lease-spec.ts";
import type { Position } from "../record/position.ts";
import { writeLine } from "./history.ts";

/** Applies a fact about a lease's record. */
export function applyLease(state: PartitionState, event: LeaseEvent & Cause, position: Position): void {
  const record = ensureRecord(state, event.lease, position);
  switch (event.kind) {
    case "leaseCreated":
      create(state, record, event, position);
      return;
    case "leaseUpdated":
      record.spec = shareSpec(event.spec);
      break;
    case "leaseDeleted":
      if (event.isRemoved) deleteLease(state, record, event, position);
      else revoke(state, record, event, position);
      return;
    case "leaseRestored":
      // Several renewals of one batch may each have found the deletion.
      if (record.deletion === undefined) return;
      record.deletion = undefined;
      break;
    case "tombstoneRemoved":
      state.leases.delete(event.lease);
      return;
    case "strategyChanged":
      record.strategy = event.strategy && { ...event.strategy, set: position };
      record.conflict = event.conflict && { ...event.conflict, since: record.conflict?.since ?? position };
      break;
    case "migrationChanged":
      record.eligibility = event.eligibility;
      record.migration = event.configuration && { configuration: event.configuration, revision: position };
      break;
    case "decisionRecorded":
      keepDecision(state, record, event, position);
      return;
  }
  record.revision = position;
  writeLine(state, record, position, lineOf[event.kind], event);
}

const lineOf = {
  leaseUpdated: "updated",
  leaseRestored: "restored",
  strategyChanged: "strategyChanged",
  migrationChanged: "eligibilityChanged",
} as const;

type Of<K extends LeaseEvent["kind"]> = Extract<LeaseEvent, { readonly kind: K }> & Cause;

function create(state: PartitionState, record: LeaseRecord, event: Of<"leaseCreated">, position: Position): void {
  record.created = position;
  record.uid = event.uid;
  record.spec = shareSpec(event.spec);
  record.revision = position;
  record.transitions = 0;
  record.lastEndReason = undefined;
  state.nextId = Math.max(state.nextId, event.uid + 1);
  countLease(state, record, 1);
  writeLine(state, record, position, "created", event);
}

function deleteLease(state: PartitionState, record: LeaseRecord, event: Of<"leaseDeleted">, position: Position): void {
  const { author, endReason, reason, token } = event;
  record.revision = position;
  record.pending = undefined;
  record.deletion = { endReason: endReason === "collected" ? "collected" : "deleted", author, reason };
  writeLine(state, record, position, "deleted", event, { token });
  if (!record.isHeld) removeLease(state, record, position);
}

function revoke(state: PartitionState, record: LeaseRecord, event: Of<"leaseDeleted">, position: Position): void {
  const { author, endReason, reason, token } = event;
  const hold = record.holdWith(token);
  if (hold === undefined) return;
  hold.revocation = { endReason: endReason === "collected" ? "collected" : "revoked", author, reason };
  record.revision = position;
  writeLine(state, record, position, "deleted", event, {
    holder: hold.holder,
    token,
    cause: hold.revocation.endReason,
  });
}

/**
 * Takes a lease away and keeps what must outlive it: the last token, history, candidates, lock delay and who may hold
 * a migration lock.
 */
export function removeLease(state: PartitionState, record: LeaseRecord, position: Position): void {
  countLease(state, record, -1);
  record.created = undefined;
  record.uid = 0;
  record.spec = defaultLeaseSpec;
  record.revision = position;
  record.freeSince = position;
  record.pending = undefined;
  record.deletion = undefined;
  record.strategy = undefined;
  record.conflict = undefined;
  record.preferredHolder = "";
  record.endOfTerm = undefined;
  record.guarded = undefined;
}

function countLease(state: PartitionState, record: LeaseRecord, difference: number): void {
  const namespace = namespaceOf(record.key);
  const count = (state.namespaces.get(namespace) ?? 0) + difference;
  if (count > 0) state.namespaces.set(namespace, count);
  else state.namespaces.delete(namespace);
}

function keepDecision(
  state: PartitionState,
  record: LeaseRecord,
  event: Of<"decisionRecorded">,
  position: Position,
): void {
  const { body, id } = event;
  const most = state.settings.retention.decisionsPerLease;
  const kept = (record.decisions ?? []).filter((decision) => decision.id !== id);
  record.decisions = [...kept, { id, body, revision: position }].slice(-most);
}
