import { checkCandidateName, checkLeaseKey } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandHeader, CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import type { CandidateRecord, CandidateSpec, Cordon, Priority } from "../record/candidate.ts";
import { openSequence } from "../record/position.ts";
import { checkCandidateSpec, checkPriority } from "../validation/candidate-spec.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { allot } from "./number.ts";
import { revisionConflict } from "./permission.ts";

type ByName = CommandHeader & {
  readonly lease: string;
  readonly candidate: string;
  readonly expectedRevision: bigint | undefined;
};

/** Registers a candidate, or corrects one of the same name and principal, which keeps its age (statement 87). */
export function decideRegisterCandidate(owned: OwnedPartition, command: CommandOf<"registerCandidate">): Decision {
  const { candidate: name, lease, priority, principal, reason = "", spec } = command;
  const violations = [
    ...checkLeaseKey(lease),
    ...checkCandidateName(name),
    ...checkCandidateSpec(spec),
    ...(priority === undefined ? [] : checkPriority(priority)),
  ];
  if (violations.length > 0) return answer({ kind: "invalid", violations });
  const candidates = owned.state.leases.get(lease)?.candidates;
  const known = candidates?.get(name);
  if (known !== undefined && known.principal !== principal) {
    return answer({ kind: "alreadyExists", lease, candidate: name, revision: known.revision.sequence });
  }
  const most = owned.state.settings.limits.candidatesPerLease;
  if (known === undefined && (candidates?.size ?? 0) >= most) {
    return answer({ kind: "limitExceeded", limit: "candidatesPerLease", value: most });
  }
  const given = priority === undefined ? known?.priority : { ...priority, author: principal, reason };
  const content = { principal, spec, priority: given, cordon: known?.cordon };
  return renewed(command, put(owned, command, known?.uid ?? allot(owned).nextId(), content));
}

/** Changes what a candidate says about itself, and renews it. */
export function decideUpdateCandidate(owned: OwnedPartition, command: CommandOf<"updateCandidate">): Decision {
  const known = findCandidate(owned, command);
  if ("kind" in known) return answer(known);
  if (known.principal !== command.principal) return answer(foreign(command));
  const spec: CandidateSpec = { ...known.spec, ...command.spec };
  const violations = checkCandidateSpec(spec);
  return violations.length > 0
    ? answer({ kind: "invalid", violations })
    : renewed(command, put(owned, command, known.uid, { ...known, spec }));
}

/** Gives or takes a priority. */
export function decideSetPriority(owned: OwnedPartition, command: CommandOf<"setPriority">): Decision {
  const known = findCandidate(owned, command);
  if ("kind" in known) return answer(known);
  const { principal: author, priority, reason = "" } = command;
  const violations = priority === undefined ? [] : checkPriority(priority);
  if (violations.length > 0) return answer({ kind: "invalid", violations });
  return put(owned, command, known.uid, { ...known, priority: priority && { ...priority, author, reason } });
}

/** Keeps a candidate from being elected, or lifts that. A term that it holds goes on. */
export function decideSetCordon(owned: OwnedPartition, command: CommandOf<"setCordon">): Decision {
  const known = findCandidate(owned, command);
  if ("kind" in known) return answer(known);
  const { candidate, cordon, lease, principal: author, reason = "" } = command;
  if (cordon === undefined && known.cordon === undefined) {
    return answer({ kind: "candidateChanged", lease, candidate, position: undefined });
  }
  return put(owned, command, known.uid, { ...known, cordon: cordon && { ...cordon, author, reason } });
}

/**
 * Removes a candidate; one that does not exist is no error. A term that it holds goes on, but a choice that it has not
 * accepted is over at once: nobody waits for one that has said that it goes.
 */
export function decideWithdrawCandidate(owned: OwnedPartition, command: CommandOf<"withdrawCandidate">): Decision {
  const { candidate, lease } = command;
  const known = findCandidate(owned, command);
  if ("kind" in known) {
    const isGone = known.kind === "candidateNotFound";
    return answer(isGone ? { kind: "candidateRemoved", lease, candidate, existed: false, position: undefined } : known);
  }
  if (known.principal !== command.principal) return answer(foreign(command));
  const pending = owned.state.leases.get(lease)?.pending;
  const lapsed =
    pending?.candidate === candidate
      ? [{ kind: "pendingLapsed", lease, token: pending.token, candidate } as const]
      : [];
  const bodies = [...lapsed, { kind: "candidateRemoved", lease, candidate, removal: "withdrawn" } as const];
  return {
    events: bodies.map((body) => caused(command, body)),
    reply: { kind: "candidateRemoved", lease, candidate, existed: true, position: owned.batch.position },
  };
}

function findCandidate({ state }: OwnedPartition, command: ByName): CandidateRecord | Refusal {
  const { candidate, expectedRevision: expected, lease } = command;
  const known = state.leases.get(lease)?.candidates?.get(candidate);
  if (known === undefined) return { kind: "candidateNotFound", lease, candidate };
  const revision = known.revision.sequence;
  if (expected === undefined || (revision === expected && revision !== openSequence)) return known;
  return revisionConflict(lease, expected, () => known.revision.sequence);
}

function foreign({ candidate, lease }: ByName): Refusal {
  return { kind: "principalMismatch", lease, candidate };
}

/** What a candidate says of itself renews it; what others say of it does not, for it may be long dead. */
function renewed(command: ByName | CommandOf<"registerCandidate">, { events, reply }: Decision): Decision {
  const { candidate, lease } = command;
  return { events: [...events, caused(command, { kind: "candidateRenewed", lease, candidate })], reply };
}

interface Content {
  readonly principal: string;
  readonly spec: CandidateSpec;
  readonly priority: Priority | undefined;
  readonly cordon: Cordon | undefined;
}

function put(
  owned: OwnedPartition,
  command: ByName | CommandOf<"registerCandidate">,
  uid: number,
  content: Content,
): Decision {
  const { candidate, lease } = command;
  const { cordon, principal, priority, spec } = content;
  const event: Event = caused(command, {
    kind: "candidatePut",
    lease,
    candidate,
    uid,
    principal,
    spec,
    priority: priority && plainPriority(priority),
    cordon: cordon && plainCordon(cordon),
  });
  return { events: [event], reply: { kind: "candidateChanged", lease, candidate, position: owned.batch.position } };
}

/** Without the position that a stored one carries. */
function plainPriority({ author, expiresAfterMs, reason, value }: Priority): Priority {
  return { value, expiresAfterMs, author, reason };
}

function plainCordon({ author, expiresAfterMs, reason }: Cordon): Cordon {
  return { expiresAfterMs, author, reason };
}
