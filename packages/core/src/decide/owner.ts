import { owesPause } from "../expiry-guard.ts";
import { isIdentityLease } from "../identity/namespace.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandHeader, OwnerCommand } from "../partition/command.ts";
import type { EventBody } from "../partition/event.ts";
import { sameSettings } from "../partition/settings.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { remainingMs } from "../record/position.ts";
import { caused, type Decision } from "./decision.ts";

/** Decides on the partition itself. Only its owner asks; nothing here is refused, at most there is nothing to note. */
export function decideOwner(owned: OwnedPartition, command: OwnerCommand & CommandHeader, now: number): Decision {
  const bodies = bodiesOf(owned, command, now);
  const position = bodies.length > 0 ? owned.batch.position : undefined;
  return { events: bodies.map((body) => caused(command, body)), reply: { kind: "noted", position } };
}

function bodiesOf(owned: OwnedPartition, command: OwnerCommand, now: number): readonly EventBody[] {
  const { state } = owned;
  switch (command.kind) {
    case "takeOver": {
      const { epoch, isHandedOver, owner } = command;
      const { epoch: previousEpoch, owner: previousOwner } = state;
      return [{ kind: "ownerChanged", epoch, owner, previousEpoch, previousOwner, isHandedOver }];
    }
    case "handOver":
      return [{ kind: "ownerHandedOver", successor: command.successor, owesPause: owesPause(owned.guard, now) }];
    case "announceSnapshot":
      return [{ kind: "snapshotAnnounced", snapshot: command.snapshot }];
    case "changeSettings":
      if (sameSettings(state.settings, command.settings)) return [];
      return [{ kind: "settingsChanged", settings: command.settings }];
    case "beginRecovery":
      return [{ kind: "recoveryChanged", holdOffMs: longestTermMs(owned) }];
    case "endRecovery":
      return isRecovered(owned, now) ? [{ kind: "recoveryChanged", holdOffMs: 0 }] : [];
    case "forgetAttempts":
      return [{ kind: "attemptsForgotten", client: command.client, belowNumber: command.belowNumber }];
    case "removeTombstones":
      return command.leases
        .filter((lease) => isForgettable(owned, state.leases.get(lease), now))
        .map((lease) => ({ kind: "tombstoneRemoved", lease }));
  }
}

/**
 * How long a term that the restored snapshot does not know may still be acting: the longest L that is allowed or in
 * use, and the longest lock delay that a lease relies on. Nobody acts by an identity's term alone.
 */
function longestTermMs({ state }: OwnedPartition): number {
  let durationMs = state.settings.policy.maximumLeaseDurationMs;
  let lockDelayMs = 0;
  for (const { spec } of state.leases.values()) lockDelayMs = Math.max(lockDelayMs, spec.lockDelayMs);
  for (const hold of state.holds.values()) {
    if (isIdentityLease(hold.lease.key)) continue;
    durationMs = Math.max(durationMs, hold.leaseDurationMs);
    lockDelayMs = Math.max(lockDelayMs, hold.lockDelayMs);
  }
  return durationMs + lockDelayMs;
}

function isRecovered({ state: { recovery } }: OwnedPartition, now: number): boolean {
  return recovery !== undefined && remainingMs(recovery.from, recovery.holdOffMs, now) === 0;
}

/**
 * Whether nothing is lost by forgetting a name: no lease, candidate, eligibility or configuration, no lock delay that
 * runs, and the log has passed its last token, so that the next token under this name is higher all the same (rule 5).
 */
function isForgettable({ batch }: OwnedPartition, record: LeaseRecord | undefined, now: number): boolean {
  if (record === undefined || record.created !== undefined || record.holds.length > 0) return false;
  if (record.pending !== undefined || (record.candidates?.size ?? 0) > 0) return false;
  if (record.eligibility !== undefined || record.migration !== undefined || record.lastToken > batch.prev) return false;
  const { lockDelay } = record;
  return lockDelay === undefined || remainingMs(lockDelay.from, lockDelay.delayMs, now) === 0;
}
