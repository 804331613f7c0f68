import { checkLeaseKey, type LeaseKey, namespaceOf } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandHeader } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import { defaultLeaseSpec, type LeaseSpec } from "../record/lease-spec.ts";
import { checkLeaseSpec } from "../validation/lease-spec.ts";
import { caused, timed } from "./decision.ts";
import { endByTime } from "./end.ts";
import { allot } from "./number.ts";
import { judgeHolds, retryAfterMs } from "./overdue.ts";

/** Why a lease may not be created under this name; undefined when it may. `added` counts those of the same command. */
export function checkCreate(
  { state }: OwnedPartition,
  lease: LeaseKey,
  spec: LeaseSpec,
  added = 0,
): Refusal | undefined {
  const violations = [...checkLeaseKey(lease), ...(spec === defaultLeaseSpec ? [] : checkLeaseSpec(spec))];
  if (violations.length > 0) return { kind: "invalid", violations };
  const most = state.settings.limits.leasesPerNamespace;
  const count = (state.namespaces.get(namespaceOf(lease)) ?? 0) + added;
  return count >= most ? { kind: "limitExceeded", limit: "leasesPerNamespace", value: most } : undefined;
}

/** Why a deleted name may not be created again yet: its last term may still be acting (rule 15). */
function checkLingering(owned: OwnedPartition, lease: LeaseKey, now: number): Refusal | undefined {
  const record = owned.state.leases.get(lease);
  if (record === undefined || record.holds.length === 0) return undefined;
  const { staying } = judgeHolds(owned, record, now);
  if (staying.length === 0) return undefined;
  const waitMs = Math.max(...staying.map((hold) => retryAfterMs(owned, hold, now)));
  return { kind: "tombstone", lease, token: record.lastToken, retryAfterMs: waitMs };
}

/** The facts of a lease that is created without a holder; a deleted term that ran out under its name ends first. */
export function creationEvents(
  owned: OwnedPartition,
  command: CommandHeader,
  lease: LeaseKey,
  spec: LeaseSpec,
  now: number,
): readonly Event[] {
  const record = owned.state.leases.get(lease);
  const ended = record === undefined ? [] : record.holds.flatMap((hold) => endByTime(record, hold, now)).map(timed);
  return [...ended, caused(command, { kind: "leaseCreated", lease, uid: allot(owned).nextId(), spec })];
}

/** Why a missing lease may not be created; undefined when it may. */
export function checkMissing(
  owned: OwnedPartition,
  lease: LeaseKey,
  spec: LeaseSpec,
  now: number,
): Refusal | undefined {
  return checkCreate(owned, lease, spec) ?? checkLingering(owned, lease, now);
}
