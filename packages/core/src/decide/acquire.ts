import type { LeaseKey } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { Claim, CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Grant } from "../partition/outcome.ts";
import { isObstacle, type Refusal } from "../partition/reply.ts";
import { routingPart } from "../routing.ts";
import { abandonWait, beatWaiter } from "../waiting/stir.ts";
import { isAnyoneWaiting, waiterId } from "../waiting/waiters.ts";
import { clientKey } from "./attempt.ts";
import { clearWay } from "./clearance.ts";
import { answer, type Decision, nothing } from "./decision.ts";
import { checkClaimant, grantEvents } from "./grant.ts";
import { allot, nextToken } from "./number.ts";
import { queueClaim } from "./queue.ts";

type Acquire = CommandOf<"acquire">;

/** Takes one lease, or several all-or-nothing; queues the claim if it waits for what time can clear. */
export function decideAcquire(owned: OwnedPartition, command: Acquire, now: number): Decision {
  const refusal = checkClaims(owned, command);
  if (refusal !== undefined) return answer(refusal);
  if (command.isGivenUp === true) return giveUp(owned, command);
  const again = findQueued(owned, command, now);
  if (again !== undefined) return again;
  const decision = tryGrant(owned, command, command.sendNumber, now);
  const isBlocked = isObstacle(decision.reply);
  if (!isBlocked && decision.reply.kind !== "granted") return decision;
  const ahead = isBlocked ? undefined : command.claims.find(({ lease }) => isAnyoneWaiting(owned.waiters, lease, now));
  if (!isBlocked && ahead === undefined) return decision;
  if (command.wait !== undefined) return queueClaim(owned, command, now);
  return ahead === undefined ? decision : answer(behindQueue(owned, ahead.lease));
}

/** Grants a claim if nothing stands in its way, whoever else waits. `sendNumber` is what the grant names. */
export function tryGrant(owned: OwnedPartition, command: Acquire, sendNumber: bigint, now: number): Decision {
  let events: readonly Event[] = nothing;
  let grants: readonly Grant[] = nothing;
  const allotment = allot(owned);
  let obstacle: Refusal | { readonly kind: "nextBatch" } | undefined;
  for (const claim of command.claims) {
    const begun = beginTerm(owned, command, claim, allotment, now);
    if (!("events" in begun)) {
      // What time cannot clear is told at once, also when an earlier claim is only in the way for now.
      if (begun.kind !== "nextBatch" && !isObstacle(begun)) return answer(begun);
      obstacle ??= begun;
      continue;
    }
    const grant = { lease: claim.lease, holdId: begun.holdId, token: begun.token, sendNumber };
    events = events === nothing ? begun.events : [...events, ...begun.events];
    grants = grants === nothing ? [grant] : [...grants, grant];
  }
  if (obstacle !== undefined) return answer(obstacle);
  return { events, reply: { kind: "granted", grants, position: owned.batch.position } };
}

type Begun = { readonly events: readonly Event[]; readonly holdId: number; readonly token: bigint };

function beginTerm(
  owned: OwnedPartition,
  command: Acquire,
  claim: Claim,
  allotment: ReturnType<typeof allot>,
  now: number,
): Begun | Refusal | { readonly kind: "nextBatch" } {
  const { claimant, fallbackCandidate } = command;
  const record = owned.state.leases.get(claim.lease);
  const refusal = checkFallback(owned, command, claim.lease);
  if (refusal !== undefined) return refusal;
  const clearance = clearWay(owned, record, { claim, participant: claimant.participant, isElection: false }, now);
  if (clearance.kind !== "clear") return clearance;
  const unfit = checkClaimant(owned, claim.lease, claimant, clearance.spec);
  if (unfit !== undefined) return unfit;
  const token = nextToken(owned, record);
  const origin = fallbackCandidate === undefined ? "acquired" : "fallback";
  const begun = { claim, claimant, origin, token } as const;
  const term = fallbackCandidate === undefined ? begun : { ...begun, details: { candidate: fallbackCandidate } };
  const events = grantEvents(owned, command, record, clearance, term, allotment, now);
  if ("kind" in events) return events;
  const last = events.at(-1);
  return { events, token, holdId: last?.kind === "holdGranted" ? last.hold.id : 0 };
}

/** A fallback claim names a candidate that its own principal registered (rule 21). */
function checkFallback({ state }: OwnedPartition, command: Acquire, lease: LeaseKey): Refusal | undefined {
  const { fallbackCandidate: candidate, principal } = command;
  if (candidate === undefined) return undefined;
  const known = state.leases.get(lease)?.candidates?.get(candidate);
  if (known === undefined) return { kind: "candidateNotFound", lease, candidate };
  return known.principal === principal ? undefined : { kind: "principalMismatch", lease, candidate };
}

function checkClaims({ state }: OwnedPartition, { attempt, claims, isGivenUp, wait }: Acquire): Refusal | undefined {
  const most = state.settings.limits.claimsPerAcquire;
  if (claims.length > most) return { kind: "limitExceeded", limit: "claimsPerAcquire", value: most };
  if (wait !== undefined && attempt === undefined) {
    const rule = "is required to wait, because the wait must survive a change of owner";
    return { kind: "invalid", violations: [{ field: "attempt", rule, value: "absent" }] };
  }
  if (isGivenUp === true && attempt === undefined) {
    const rule = "is required to give up, because it says what was claimed";
    return { kind: "invalid", violations: [{ field: "attempt", rule, value: "absent" }] };
  }
  if (claims.length === 1) return undefined;
  const leases = claims.map(({ lease }) => lease);
  const [first] = leases;
  if (first === undefined || new Set(leases).size < leases.length) {
    const rule = "must have at least one claim, and each lease at most once";
    return { kind: "invalid", violations: [{ field: "claims", rule, value: leases.join(", ") }] };
  }
  const part = routingPart(first);
  return leases.every((lease) => routingPart(lease) === part) ? undefined : { kind: "routingPartsDiffer", leases };
}

/** The caller has left without a trace of its attempt: its wait is over, and whoever stood behind it may be due. */
function giveUp(owned: OwnedPartition, { attempt, claims, principal }: Acquire): Decision {
  abandonWait(owned, waiterId(clientKey(principal, attempt?.clientId ?? ""), attempt?.number ?? 0n));
  return answer({ kind: "waitEnded", leases: claims.map(({ lease }) => lease) });
}

/** A wait that was sent again is the wait that stands in the queue. */
function findQueued(owned: OwnedPartition, command: Acquire, now: number): Decision | undefined {
  const { attempt, principal, sendNumber, wait } = command;
  if (attempt === undefined || owned.waiters.byId.size === 0) return undefined;
  const id = waiterId(clientKey(principal, attempt.clientId), attempt.number);
  const newest = wait !== undefined && wait.beatNumber > sendNumber ? wait.beatNumber : sendNumber;
  if (!beatWaiter(owned, id, newest, now)) return undefined;
  return answer({ kind: "queued", waiterId: id, ahead: 0 });
}

function behindQueue({ state }: OwnedPartition, lease: LeaseKey): Refusal {
  const { holds, lastToken } = state.leases.get(lease) ?? { holds: [], lastToken: 0n };
  return { kind: "held", lease, holder: holds[0]?.holder ?? "", token: lastToken, retryAfterMs: 0 };
}
