import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import { elapsedMs, openSequence } from "../record/position.ts";
import { answer, caused, type Decision } from "./decision.ts";

/** Asks candidates whether they are alive, by raising their ping numbers. Those that do not exist are skipped. */
export function decidePingCandidates(owned: OwnedPartition, command: CommandOf<"pingCandidates">): Decision {
  const { candidates, coordinator, lease } = command;
  const known = owned.state.leases.get(lease)?.candidates;
  const pingNumbers = candidates.map((name) => {
    const candidate = known?.get(name);
    return candidate === undefined ? 0n : (candidate.ping?.number ?? 0n) + 1n;
  });
  const questions = candidates.flatMap((candidate, place) => {
    const pingNumber = pingNumbers[place] ?? 0n;
    return pingNumber === 0n ? [] : [{ candidate, pingNumber }];
  });
  if (questions.length === 0) return answer({ kind: "pinged", lease, pingNumbers, position: undefined });
  const events = [caused(command, { kind: "candidatesPinged", lease, questions, coordinator })];
  return { events, reply: { kind: "pinged", lease, pingNumbers, position: owned.batch.position } };
}

/**
 * Takes answers to pings. An answer echoes the question's number, so no clock is compared (statement 60): the newest
 * question's number answers it, an older one or 0 only renews, and one that was never asked is not believed.
 */
export function decideAckCandidates(owned: OwnedPartition, command: CommandOf<"ackCandidates">): Decision {
  const events: Event[] = [];
  const isKnown = command.answers.map(({ candidate, lease, pingNumber }) => {
    const known = owned.state.leases.get(lease)?.candidates?.get(candidate);
    if (known === undefined || known.principal !== command.principal) return false;
    const asked = known.ping?.number ?? 0n;
    if (pingNumber > asked) return false;
    const isAnswer = pingNumber > 0n && pingNumber > (known.ping?.answeredNumber ?? 0n);
    if (isAnswer) events.push(caused(command, { kind: "candidateAnswered", lease, candidate, pingNumber }));
    else events.push(caused(command, { kind: "candidateRenewed", lease, candidate }));
    return true;
  });
  return {
    events,
    reply: { kind: "answered", isKnown, position: events.length > 0 ? owned.batch.position : undefined },
  };
}

/** Deletes a candidate that is expired by the owner's own clock; one renewed in between survives (statement 89). */
export function decideCollectCandidate(
  owned: OwnedPartition,
  command: CommandOf<"collectCandidate">,
  now: number,
): Decision {
  const { candidate: name, graceMs, isDependent, lease } = command;
  const candidate = owned.state.leases.get(lease)?.candidates?.get(name);
  const isSame =
    candidate !== undefined &&
    candidate.revision.sequence === command.expectedRevision &&
    candidate.renewal.sequence === command.expectedRenewalRevision &&
    candidate.renewal.sequence !== openSequence;
  const isDead = isSame && (isDependent || elapsedMs(candidate.renewal, now) > candidate.spec.validityMs + graceMs);
  if (!isDead) return answer({ kind: "collected", isCollected: false, position: undefined });
  const removal = isDependent ? "dependent" : "collected";
  const events = [caused(command, { kind: "candidateRemoved", lease, candidate: name, removal })];
  return { events, reply: { kind: "collected", isCollected: true, position: owned.batch.position } };
}
