import type { OwnedPartition } from "../partition/batch.ts";
import type { Claim, CommandOf } from "../partition/command.ts";
import { checkRecovery } from "./clearance.ts";
import { answer, type Decision } from "./decision.ts";
import { checkEligible } from "./eligible.ts";
import { checkClaimant, grantEvents } from "./grant.ts";
import { allot, mustWaitForNextBatch } from "./number.ts";
import { isLapsed } from "./overdue.ts";

/**
 * Begins the term that a candidate was chosen for. By token and within the window on the owner's clock; a late accept
 * is refused, so the next candidate can follow without a second leader (rule 18).
 */
export function decideAccept(owned: OwnedPartition, command: CommandOf<"accept">, now: number): Decision {
  const { candidate: name, claimant, lease, principal, token } = command;
  const record = owned.state.leases.get(lease);
  const pending = record?.pending;
  if (record === undefined || pending === undefined || pending.token !== token || pending.candidate !== name) {
    return answer({ kind: "notPending", lease, token });
  }
  const candidate = record.candidates?.get(name);
  if (candidate === undefined) return answer({ kind: "candidateNotFound", lease, candidate: name });
  if (candidate.principal !== principal) return answer({ kind: "principalMismatch", lease, candidate: name });
  const recovering = checkRecovery(owned, now);
  if (recovering !== undefined) return answer(recovering);
  if (isLapsed(record, now)) return answer({ kind: "acceptTooLate", lease, token });
  if (claimant.holder !== name) {
    const rule = "must be the candidate's name";
    return answer({ kind: "invalid", violations: [{ field: "claimant.holder", rule, value: claimant.holder }] });
  }
  const participant = claimant.participant ?? candidate.spec.participant;
  const refusal = checkEligible(record, participant) ?? checkClaimant(owned, lease, claimant, record.spec);
  if (refusal !== undefined) return answer(refusal);
  if (mustWaitForNextBatch(owned, undefined)) return answer({ kind: "nextBatch" });
  return begin(owned, command, now);
}

function begin(owned: OwnedPartition, command: CommandOf<"accept">, now: number): Decision {
  const { candidate, claimant, lease, sendNumber, token } = command;
  const record = owned.state.leases.get(lease);
  const { decisionId = "", electedBy = "" } = record?.pending ?? {};
  const claim: Claim = { lease, mode: "exclusive", units: 1 };
  const spec = record?.spec;
  if (record === undefined || spec === undefined) return answer({ kind: "notPending", lease, token });
  const clearance = { kind: "clear", ending: [], isLapsing: false, isCreating: false, spec } as const;
  const details = { candidate, electedBy, decisionId };
  const term = { claim, claimant, origin: "elected", token, details } as const;
  const events = grantEvents(owned, command, record, clearance, term, allot(owned), now);
  if ("kind" in events) return answer(events);
  const last = events.at(-1);
  const holdId = last?.kind === "holdGranted" ? last.hold.id : 0;
  const grants = [{ lease, holdId, token, sendNumber }];
  return { events, reply: { kind: "granted", grants, position: owned.batch.position } };
}
