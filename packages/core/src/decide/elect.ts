import { whyNotElectable } from "../coordination.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { Claim, CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import { existingLease } from "../partition/state.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { checkStrategy } from "../validation/strategy.ts";
import { clearWay } from "./clearance.ts";
import { checkCreate } from "./creation.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { checkDecision, decisionEvents } from "./decision-record.ts";
import { clearingEvents } from "./grant.ts";
import { allot, nextToken } from "./number.ts";
import { checkRevision } from "./permission.ts";

/**
 * Makes a coordinator's choice pending (rule 18). Nobody leads by it: the candidate's own accept begins the term, with
 * the token given here. A term that runs is never replaced, whatever the coordinator saw (statement 73).
 */
export function decideElect(owned: OwnedPartition, command: CommandOf<"elect">, now: number): Decision {
  const { lease, candidate: name, decision, strategy } = command;
  const record = owned.state.leases.get(lease);
  const stale = checkRevision(lease, existingLease(owned.state, lease), command.expectedRevision);
  if (stale !== undefined) return answer(stale);
  const candidate = record?.candidates?.get(name);
  if (record === undefined || candidate === undefined)
    return answer({ kind: "candidateNotFound", lease, candidate: name });
  const why = whyNotElectable(candidate, now);
  if (why !== undefined) return answer({ kind: "candidateNotElectable", lease, candidate: name, why });
  const invalid = strategy === undefined ? [] : checkStrategy(strategy);
  if (invalid.length > 0) return answer({ kind: "invalid", violations: invalid });
  const refusal = checkDecision(owned, decision);
  if (refusal !== undefined) return answer(refusal);

  const claim: Claim = { lease, mode: "exclusive", units: 1 };
  const clearance = clearWay(owned, record, { claim, participant: candidate.spec.participant, isElection: true }, now);
  if (clearance.kind !== "clear") return answer(clearance);
  const events: Event[] = [...clearingEvents(record, clearance, now)];
  if (clearance.isCreating) {
    const barred = checkCreate(owned, lease, defaultLeaseSpec);
    if (barred !== undefined) return answer(barred);
    events.push(caused(command, { kind: "leaseCreated", lease, uid: allot(owned).nextId(), spec: defaultLeaseSpec }));
  }
  events.push(
    ...strategyEvents(command, record.strategy?.source === "operator"),
    ...decisionEvents(command, lease, decision),
  );
  const pending = {
    token: nextToken(owned, record),
    candidate: name,
    electedBy: command.coordinator,
    decisionId: decision?.id ?? "",
    acceptWindowMs: command.acceptWindowMs ?? owned.state.settings.acceptWindowMs,
  };
  events.push(caused(command, { kind: "holdPending", lease, pending }));
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

/** The consensus that the choice rests on, written in the same step; an operator's strategy stays. */
function strategyEvents(command: CommandOf<"elect">, isOperators: boolean): readonly Event[] {
  const { coordinator, lease, reason = "", strategy } = command;
  if (strategy === undefined || isOperators) return [];
  const setting = { strategy, source: "consensus", author: coordinator, reason } as const;
  return [caused(command, { kind: "strategyChanged", lease, strategy: setting, conflict: undefined })];
}
