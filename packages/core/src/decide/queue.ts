import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import { type Waiter, waiterId, waitersOf } from "../waiting/waiters.ts";
import { clientKey } from "./attempt.ts";
import { answer, type Decision } from "./decision.ts";

/** Puts a claim into the queue of each of its leases, or refuses it with the limit that is reached. */
export function queueClaim(owned: OwnedPartition, command: CommandOf<"acquire">, now: number): Decision {
  const { limits } = owned.state.settings;
  if (owned.waiters.byId.size >= limits.waitersPerPartition) {
    return answer({ kind: "limitExceeded", limit: "waitersPerPartition", value: limits.waitersPerPartition });
  }
  const queued = Math.max(...command.claims.map(({ lease }) => waitersOf(owned.waiters, lease)));
  if (queued >= limits.waitersPerLease) {
    return answer({ kind: "limitExceeded", limit: "waitersPerLease", value: limits.waitersPerLease });
  }
  const waiter = waiterFor(owned, command, now);
  return { events: [], reply: { kind: "queued", waiterId: waiter.id, ahead: queued }, waiter };
}

function waiterFor(owned: OwnedPartition, command: CommandOf<"acquire">, now: number): Waiter {
  const { attempt, claimant, principal, sendNumber, wait } = command;
  const client = clientKey(principal, attempt?.clientId ?? "");
  const timing = claimant.timing ?? owned.state.settings.timing;
  const { timeoutMs, ageMs = 0, beatNumber = 0n } = wait ?? {};
  return {
    id: waiterId(client, attempt?.number ?? 0n),
    client,
    command,
    arrivedAtMs: now - ageMs,
    ticket: owned.waiters.nextTicket++,
    endsAtMs: timeoutMs === undefined ? Number.POSITIVE_INFINITY : now + timeoutMs,
    silentAfterMs: 2 * timing.renewIntervalMs + timing.requestTimeoutMs,
    // By then its last beat could no longer carry a term: the deadline that it would give has passed.
    forgottenAfterMs: timing.leaseDurationMs,
    lastBeatAtMs: now,
    beatNumber: beatNumber > sendNumber ? beatNumber : sendNumber,
  };
}
