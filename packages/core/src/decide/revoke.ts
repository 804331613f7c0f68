import type { OwnedPartition } from "../partition/batch.ts";
import type { Claim, CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import { existingLease } from "../partition/state.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { checkEligible } from "./eligible.ts";
import { endByHolder } from "./end.ts";
import { checkClaimant, grantEvents } from "./grant.ts";
import { allot, mustWaitForNextBatch, nextToken } from "./number.ts";
import { checkRevision, missingHold } from "./permission.ts";

/**
 * Ends running terms against their holder's will, safely: renewals are refused with the reason, and the lease is free
 * when L after the last renewal has passed, or when the holder releases (rule 15). Also what an operator's release and,
 * with a successor, a transfer do.
 */
export function decideRevoke(owned: OwnedPartition, command: CommandOf<"revoke">): Decision {
  const { lease, successor = "", token } = command;
  const record = existingLease(owned.state, lease);
  if (record === undefined) return answer({ kind: "leaseNotFound", lease });
  const refusal = checkRevision(lease, record, command.expectedRevision);
  if (refusal !== undefined) return answer(refusal);
  const holds = record.holds.filter((hold) => token === 0n || hold.token === token);
  if (holds.length === 0) {
    return answer(token === 0n ? { kind: "notHolder", lease, token } : missingHold(owned.state, lease, token));
  }
  const events: Event[] = holds.map((hold) =>
    caused(command, { kind: "leaseDeleted", lease, isRemoved: false, token: hold.token, endReason: "revoked" }),
  );
  const [first] = holds;
  if (successor !== "" && first !== undefined) {
    const { principal: author, reason = "" } = command;
    const endOfTerm = {
      token: first.token,
      preferredHolder: successor,
      drainBoundMs: 0,
      author,
      reason,
      decisionId: "",
    };
    events.push(caused(command, { kind: "endOfTermMarked", lease, endOfTerm }));
  }
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

/**
 * Takes a lease from a running term by force. The former holder may act until it notices: only the token protects what
 * it does, so this is for users whose every effect checks the token.
 */
export function decideSteal(owned: OwnedPartition, command: CommandOf<"steal">, now: number): Decision {
  const { claimant, lease, sendNumber } = command;
  const record = existingLease(owned.state, lease);
  if (record === undefined) return answer({ kind: "leaseNotFound", lease });
  const [hold] = record.holds;
  if (hold === undefined) return answer({ kind: "notHolder", lease, token: record.lastToken });
  if (hold.mode !== "exclusive") return answer({ kind: "exclusiveHoldRequired", lease });
  const refusal =
    checkRevision(lease, record, command.expectedRevision) ??
    checkEligible(record, claimant.participant) ??
    checkClaimant(owned, lease, claimant, record.spec);
  if (refusal !== undefined) return answer(refusal);
  if (mustWaitForNextBatch(owned, record)) return answer({ kind: "nextBatch" });
  const ended = endByHolder(record, hold, "stolen", now).map((body) => caused(command, body));
  const claim: Claim = { lease, mode: "exclusive", units: 1 };
  const clearance = { kind: "clear", ending: [], isLapsing: false, isCreating: false, spec: record.spec } as const;
  const token = nextToken(owned, record);
  const term = { claim, claimant, origin: "stolen", token } as const;
  const granted = grantEvents(owned, command, record, clearance, term, allot(owned), now);
  if ("kind" in granted) return answer(granted);
  const last = granted.at(-1);
  const holdId = last?.kind === "holdGranted" ? last.hold.id : 0;
  const grants = [{ lease, holdId, token, sendNumber }];
  return { events: [...ended, ...granted], reply: { kind: "granted", grants, position: owned.batch.position } };
}
