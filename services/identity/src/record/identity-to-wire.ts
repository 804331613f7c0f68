import {
  collisionToWire,
  durationFromMs,
  type Identity,
  IdentityLiveness,
  type StoredProfile,
  storedProfile,
  timestampFromMs,
} from "@tenure/contracts";
import {
  beatAgeMs,
  identityLabels,
  instanceUidOf,
  type LeaseRecord,
  type Liveness,
  lifeSightOf,
  livenessAt,
  nameOf,
  renewalRevisionOf,
} from "@tenure/core";

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
  const { profile } = profileOf(record);
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
    collision: collisionToWire(record, now),
  };
}
