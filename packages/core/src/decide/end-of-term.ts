import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import { existingLease } from "../partition/state.ts";
import type { EndOfTerm, Hold } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { remainingMs } from "../record/position.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { checkDecision, decisionEvents } from "./decision-record.ts";
import { checkRevision, missingHold } from "./permission.ts";

/** Asks a holder to finish. The mark changes no deadline; after the drain bound renewals are refused (rule 20). */
export function decideMarkEndOfTerm(owned: OwnedPartition, command: CommandOf<"markEndOfTerm">, now: number): Decision {
  const { decision, lease, token } = command;
  const record = existingLease(owned.state, lease);
  if (record === undefined) return answer({ kind: "leaseNotFound", lease });
  const hold = record.holdWith(token);
  const refusal =
    checkRevision(lease, record, command.expectedRevision) ??
    (hold === undefined ? missingHold(owned.state, lease, token) : checkMark(hold, command, now)) ??
    checkDecision(owned, decision);
  if (refusal !== undefined) return answer(refusal);
  const events: Event[] = [...decisionEvents(command, lease, decision)];
  events.push(caused(command, { kind: "endOfTermMarked", lease, endOfTerm: markOf(command, record) }));
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

function markOf(command: CommandOf<"markEndOfTerm">, record: LeaseRecord): EndOfTerm {
  const { coolDownMs, decision, preferredHolder, principal, reason = "", token } = command;
  return {
    token,
    preferredHolder,
    drainBoundMs: command.drainBoundMs ?? record.spec.drainBoundMs,
    author: principal,
    reason,
    decisionId: decision?.id ?? "",
    ...(coolDownMs === undefined ? undefined : { coolDownMs }),
  };
}

function checkMark(hold: Hold, command: CommandOf<"markEndOfTerm">, now: number): Refusal | undefined {
  const { decision, lease, preferredHolder } = command;
  if (hold.mode !== "exclusive") return { kind: "exclusiveHoldRequired", lease };
  if (preferredHolder === hold.holder) {
    const rule = "must not be the present holder";
    return { kind: "invalid", violations: [{ field: "preferred_holder", rule, value: preferredHolder }] };
  }
  // An operator or the holder itself may end a young term; a coordinator that flaps may not.
  const youngMs = decision === undefined ? 0 : remainingMs(hold.granted, hold.lease.spec.minimumTermMs, now);
  return youngMs > 0 ? { kind: "tooYoung", lease, retryAfterMs: youngMs } : undefined;
}

/** Withdraws the request to finish: the holder may renew again. No error if there is none. */
export function decideClearEndOfTerm(owned: OwnedPartition, command: CommandOf<"clearEndOfTerm">): Decision {
  const { lease } = command;
  const record = existingLease(owned.state, lease);
  if (record === undefined) return answer({ kind: "leaseNotFound", lease });
  const refusal = checkRevision(lease, record, command.expectedRevision);
  if (refusal !== undefined) return answer(refusal);
  if (record.endOfTerm === undefined && record.preferredHolder === "") {
    return answer({ kind: "changed", lease, position: undefined });
  }
  const token = record.endOfTerm?.token ?? 0n;
  const events = [caused(command, { kind: "endOfTermCleared", lease, token })];
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}
