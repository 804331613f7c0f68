import type { Cause, HoldEvent } from "../partition/event.ts";
import { ensureRecord, intern, type PartitionState } from "../partition/state.ts";
import { Hold, type HoldDetails } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Position } from "../record/position.ts";
import type { TransitionDetails } from "../record/transition.ts";
import { writeLine } from "./history.ts";
import { removeLease } from "./lease.ts";

type Of<K extends HoldEvent["kind"]> = Extract<HoldEvent, { readonly kind: K }> & Cause;

/** Applies a fact about a term. A fact about a term that is not known changes nothing. */
export function applyHold(state: PartitionState, event: HoldEvent & Cause, position: Position): void {
  if (event.kind === "renewed") {
    applyRenewals(state, event.holdIds, position);
    return;
  }
  const record = ensureRecord(state, event.lease, position);
  switch (event.kind) {
    case "holdGranted":
      grant(state, record, event, position);
      return;
    case "holdChanged":
      change(state, event, position);
      return;
    case "holdEnded":
      end(state, record, event, position);
      return;
    case "holdPending":
      choose(state, record, event, position);
      return;
    case "pendingLapsed":
      lapse(state, record, event, position);
      return;
    case "endOfTermMarked":
      mark(state, record, event, position);
      return;
    case "endOfTermCleared":
      clear(state, record, event, position);
      return;
  }
}

/** Notes that terms were renewed. Their records' revisions stay (rule 6). */
export function applyRenewals(state: PartitionState, holdIds: readonly number[], position: Position): void {
  for (const hold of state.holds.getEach(holdIds)) if (hold !== undefined) hold.renewal = position;
}

function grant(state: PartitionState, record: LeaseRecord, event: Of<"holdGranted">, position: Position): void {
  const facts = event.hold;
  const { details, id, token } = facts;
  const hold = new Hold(record, facts, position, position, intern(state, facts.holder));
  record.addHold(hold);
  state.holds.add(hold);
  state.nextId = Math.max(state.nextId, id + 1);
  record.lastToken = token > record.lastToken ? token : record.lastToken;
  if (record.pending !== undefined) record.pending = undefined;
  if (record.endOfTerm !== undefined) record.endOfTerm = undefined;
  if (record.lockDelay !== undefined) record.lockDelay = undefined;
  record.preferredHolder = "";
  record.transitions = event.transitions;
  record.revision = position;
  const candidate = record.candidates?.get(details?.candidate ?? "");
  if (candidate !== undefined) candidate.missedAccepts = 0;
  const line = { holder: hold.holder, token, cause: facts.origin, details: details && grantDetails(details) };
  writeLine(state, record, position, "granted", event, line);
}

/** What a line of history keeps of a term that was elected or that takes part in a migration. */
function grantDetails({ decisionId, participant }: HoldDetails): TransitionDetails | undefined {
  if (!decisionId && participant === undefined) return undefined;
  return { ...(decisionId ? { decisionId } : undefined), ...(participant ? { participant } : undefined) };
}

function change(state: PartitionState, event: Of<"holdChanged">, position: Position): void {
  const hold = state.holds.get(event.holdId);
  if (hold === undefined) return;
  const { leaseDurationMs, value, writtenTimes } = event;
  hold.renewal = position;
  if (leaseDurationMs !== undefined) hold.leaseDurationMs = leaseDurationMs;
  if (value !== undefined) hold.details = { ...hold.details, value };
  if (writtenTimes !== undefined) hold.details = { ...hold.details, writtenTimes };
}

function end(state: PartitionState, record: LeaseRecord, event: Of<"holdEnded">, position: Position): void {
  const hold = state.holds.get(event.holdId);
  if (hold === undefined) return;
  const { endReason: cause, heldForMs, lockDelayMs, successor, token } = event;
  state.holds.delete(event.holdId);
  record.removeHold(hold);
  record.lastEndReason = cause;
  record.revision = position;
  if (record.endOfTerm?.token === token) record.endOfTerm = undefined;
  if (lockDelayMs > 0) {
    // The longer of two delays counts anew: how much of the first is left is known only to each replica's own clock.
    record.lockDelay = { from: position, delayMs: Math.max(lockDelayMs, record.lockDelay?.delayMs ?? 0) };
  }
  const details = successor === "" ? { heldForMs } : { heldForMs, successor };
  writeLine(state, record, position, "ended", event, { holder: hold.holder, token, cause, details });
  if (record.isHeld) return;
  record.freeSince = position;
  if (record.deletion !== undefined) removeLease(state, record, position);
}

function choose(state: PartitionState, record: LeaseRecord, event: Of<"holdPending">, position: Position): void {
  const { candidate: holder, decisionId, token } = event.pending;
  record.pending = { ...event.pending, from: position };
  record.lastToken = token > record.lastToken ? token : record.lastToken;
  record.preferredHolder = "";
  record.revision = position;
  const details = decisionId === "" ? undefined : { decisionId };
  writeLine(state, record, position, "elected", event, { holder, token, details });
}

function lapse(state: PartitionState, record: LeaseRecord, event: Of<"pendingLapsed">, position: Position): void {
  if (record.pending?.token !== event.token) return;
  record.pending = undefined;
  record.freeSince = position;
  record.lastEndReason = "notAccepted";
  record.revision = position;
  const { candidate: holder, token } = event;
  writeLine(state, record, position, "ended", event, { holder, token, cause: "notAccepted" });
}

function mark(state: PartitionState, record: LeaseRecord, event: Of<"endOfTermMarked">, position: Position): void {
  const { preferredHolder, token } = event.endOfTerm;
  // A second mark may name another successor, but does not give the holder more time.
  const marked = record.endOfTerm?.token === token ? record.endOfTerm.marked : position;
  record.endOfTerm = { ...event.endOfTerm, marked };
  record.preferredHolder = preferredHolder;
  record.revision = position;
  const holder = record.holdWith(token)?.holder ?? "";
  const details = preferredHolder === "" ? undefined : { successor: preferredHolder };
  writeLine(state, record, position, "endOfTermMarked", event, { holder, token, details });
}

function clear(state: PartitionState, record: LeaseRecord, event: Of<"endOfTermCleared">, position: Position): void {
  record.endOfTerm = undefined;
  record.preferredHolder = "";
  record.revision = position;
  writeLine(state, record, position, "endOfTermCleared", event, { token: event.token });
}
