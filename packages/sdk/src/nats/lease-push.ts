import {
  type CandidateEvent,
  ChangeKind,
  type LeaseEvent,
  type SessionPush,
  type Transition,
  TransitionKind,
} from "@tenure/contracts";

/** What a change of a lease, or its present state after a gap, says to its holders and candidates. */
export function leasePushes({ kind, lease, transitions }: LeaseEvent): readonly SessionPush[] {
  if (lease?.key === undefined) return [];
  const { endOfTerm, key, pending } = lease;
  const isPresent = kind === ChangeKind.PRESENT;
  const pushes = transitions.flatMap((line): SessionPush[] => {
    if (line.kind === TransitionKind.ENDED) return [termEnded(key, line)];
    if (line.kind !== TransitionKind.END_OF_TERM_CLEARED) return [];
    return [{ push: { $case: "endOfTerm", value: { lease: key, endOfTerm: undefined, cleared: true } } }];
  });
  if (endOfTerm !== undefined && (isPresent || has(transitions, TransitionKind.END_OF_TERM_MARKED))) {
    pushes.push({ push: { $case: "endOfTerm", value: { lease: key, endOfTerm, cleared: false } } });
  }
  if (pending !== undefined && (isPresent || has(transitions, TransitionKind.ELECTED))) {
    const candidate = { lease: key, name: pending.candidate };
    pushes.push({ push: { $case: "pending", value: { candidate, pending } } });
  }
  return pushes;
}

/** The question that a change of a candidate asks, if it was not answered. */
export function candidatePushes({ candidate, kind }: CandidateEvent): readonly SessionPush[] {
  const { key, ping } = candidate ?? {};
  if (ping === undefined || ping.number <= ping.answeredNumber || kind === ChangeKind.REMOVED) return [];
  return [{ push: { $case: "ping", value: { candidate: key, ping } } }];
}

function termEnded(lease: NonNullable<LeaseEvent["lease"]>["key"], line: Transition): SessionPush {
  const { endReason, reason: note, token } = line;
  return { push: { $case: "termEnded", value: { lease, token, endReason, note } } };
}

function has(transitions: readonly Transition[], kind: TransitionKind): boolean {
  return transitions.some((line) => line.kind === kind);
}
