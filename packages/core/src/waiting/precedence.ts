import { isCoordinated } from "../coordination.ts";
import { caused } from "../decide/decision.ts";
import { take } from "../execute.ts";
import type { LeaseKey } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { Hold, TermEndReason } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { remainingMs } from "../record/position.ts";
import { isLive, type Waiter } from "./waiters.ts";

/** Ends after which a holder had to make way for another. */
const losses: ReadonlySet<string> = new Set<TermEndReason>(["preempted", "steppedDown", "ended"]);

/**
 * Asks the holder to finish for a live waiter that takes precedence over exactly its key. Nothing is taken by force: the
 * holder goes on until it releases or its drain bound is over. A young term is left alone for the lease's minimum term,
 * and by one that had to make way itself for the cool-down, or for L where the lease has none, so that two who each put
 * themselves first cannot go round and round (statement 107). Says in how many ms to look again; undefined if at no time.
 */
export function markForPrecedence(owned: OwnedPartition, lease: LeaseKey, now: number): number | undefined {
  const record = owned.state.leases.get(lease);
  const hold = record?.holds[0];
  if (record === undefined || hold === undefined || !isOpen(record, hold, now)) return undefined;
  let lookAgainMs: number | undefined;
  for (const waiter of owned.waiters.queues.get(lease) ?? []) {
    if (!goesBefore(waiter, hold) || !isLive(waiter, now)) continue;
    const leftMs = heldBackMs(record, hold, waiter, now);
    if (leftMs === 0) {
      mark(owned, hold, waiter, now);
      return undefined;
    }
    lookAgainMs = Math.min(leftMs, lookAgainMs ?? leftMs);
  }
  return lookAgainMs;
}

/** Whether precedence by key says anything about a term: one that runs on, and that no election has a say in. */
function isOpen(record: LeaseRecord, { mode, revocation, token }: Hold, now: number): boolean {
  const isEnding = record.endOfTerm?.token === token || revocation !== undefined || record.deletion !== undefined;
  return mode === "exclusive" && !isEnding && !isCoordinated(record, now);
}

function goesBefore({ command: { claimant, claims, wait } }: Waiter, { holder, holderKey }: Hold): boolean {
  return claims.length === 1 && wait?.supersedesKey === holderKey && claimant.holder !== holder;
}

function heldBackMs({ history, spec }: LeaseRecord, hold: Hold, { command }: Waiter, now: number): number {
  const { holder } = command.claimant;
  const loss = history.findLast((line) => line.kind === "ended" && line.holder === holder);
  const isLoss = loss?.cause !== undefined && losses.has(loss.cause);
  const coolDownMs = isLoss ? remainingMs(loss.position, spec.coolDownMs || hold.leaseDurationMs, now) : 0;
  return Math.max(remainingMs(hold.granted, spec.minimumTermMs, now), coolDownMs);
}

function mark(owned: OwnedPartition, hold: Hold, { command }: Waiter, now: number): void {
  const { claimant, principal: author } = command;
  const { key: lease, spec } = hold.lease;
  const reason = `the key of ${claimant.holder} goes before ${hold.holderKey === "" ? "none" : hold.holderKey}`;
  const { drainBoundMs } = spec;
  const endOfTerm = {
    token: hold.token,
    preferredHolder: claimant.holder,
    drainBoundMs,
    author,
    reason,
    decisionId: "",
  };
  take(owned, [caused({ ...command, reason }, { kind: "endOfTermMarked", lease, endOfTerm })], now);
}
