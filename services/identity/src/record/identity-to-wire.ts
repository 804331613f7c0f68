import {
  durationFromMs,
  type Identity,
  type IdentityCollision,
  IdentityLiveness,
  timestampFromMs,
} from "@tenure/contracts";
import {
  beatAgeMs,
  collisionOf,
  identityLabels,
  instanceUidOf,
  type LeaseRecord,
  type Liveness,
  lifeSightOf,
  livenessAt,
  nameOf,
  renewalRevisionOf,
} from "@tenure/core";
import { type StoredProfile, storedProfile } from "./profile-record.ts";

/** How the API spells liveness. */
export const livenessToWire: Readonly<Record<Liveness, IdentityLiveness>> = {
  live: IdentityLiveness.LIVE,
  silent: IdentityLiveness.SILENT,
  expired: IdentityLiveness.EXPIRED,
  gone: IdentityLiveness.GONE,
};

/** The profile of a record. */
export function profileOf({ spec }: LeaseRecord): StoredProfile {
  return storedProfile(spec, spec.labels[identityLabels.component] ?? "");
}

/** Whether an instance is alive, on this replica's clock. */
export function livenessOf(record: LeaseRecord, now: number): Liveness {
  return livenessAt(lifeSightOf(record, profileOf(record).beatIntervalMs), now);
}

/** An identity as the API shows it. `liveness` is given where it is shown as it was at another moment. */
export function identityToWire(record: LeaseRecord, partition: number, now: number, liveness?: Liveness): Identity {
  const { beatIntervalMs, profile } = profileOf(record);
  const id = nameOf(record.key);
  const hold = record.holds.at(-1);
  const granted = hold === undefined ? record.history.findLast(({ kind }) => kind === "granted") : undefined;
  const holder = hold?.holder ?? granted?.holder ?? "";
  const registeredAt = hold?.granted ?? granted?.position ?? record.created;
  return {
    id,
    profile,
    instanceUid: instanceUidOf(id, holder),
    token: hold?.token ?? record.lastToken,
    holdId: BigInt(hold?.id ?? 0),
    partition,
    revision: record.revision.sequence,
    renewalRevision: renewalRevisionOf(record),
    liveness: livenessToWire[liveness ?? livenessOf(record, now)],
    beatAge: durationFromMs(Math.round(beatAgeMs(record, now))),
    registeredAt: registeredAt && timestampFromMs(registeredAt.wallMs),
    renewedAt: hold && timestampFromMs(hold.renewal.wallMs),
    principal: hold?.principal ?? granted?.author ?? "",
    // Only a record that has changed hands twice can show one.
    collision: record.transitions < 2 ? undefined : collisionToWire(record, beatIntervalMs, now),
  };
}

/** How a takeover is noted in history, so that a collision can say who the other is. */
export function takeoverNote(host: string, processId: number): string {
  return `process ${processId} on ${host}`.slice(0, 500);
}

function collisionToWire(record: LeaseRecord, beatIntervalMs: number, now: number): IdentityCollision | undefined {
  const collision = collisionOf(record, beatIntervalMs, now);
  if (collision === undefined) return undefined;
  const { changes, otherHolder, seen } = collision;
  const note = record.history.findLast(({ holder, kind }) => kind === "granted" && holder === otherHolder);
  const [, processId = "0", otherHost = ""] = /^process (\d{1,9}) on (.*)$/s.exec(note?.details?.reason ?? "") ?? [];
  const otherProcessId = Number(processId);
  return { otherHost, otherProcessId, seenAt: timestampFromMs(seen.wallMs), changes };
}
