import type { LeaseKey } from "../key.ts";
import type { Refusal } from "../partition/reply.ts";
import type { PartitionState } from "../partition/state.ts";
import type { Hold } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { openSequence } from "../record/position.ts";

/** Who shows up to renew, release or write: only the holder's principal and secret count (I19). */
export interface Credentials {
  readonly principal: string;
  readonly renewKeyHash?: string;
}

/** Why these credentials do not prove the holder of a term; undefined when they do. */
export function checkHolder(hold: Hold, credentials: Credentials): Refusal | undefined {
  if (hold.principal !== credentials.principal) return { kind: "principalMismatch", lease: hold.lease.key };
  const wanted = hold.details?.renewKeyHash;
  if (wanted !== undefined && wanted !== credentials.renewKeyHash) {
    return { kind: "renewKeyMismatch", lease: hold.lease.key };
  }
  return undefined;
}

/** Why no term with this token runs. */
export function missingHold(state: PartitionState, lease: LeaseKey, token: bigint): Refusal {
  const record = state.leases.get(lease);
  if (record === undefined) return { kind: "leaseNotFound", lease };
  if (token < record.lastToken) {
    return { kind: "fenced", lease, holder: record.holds.at(-1)?.holder ?? "", token: record.lastToken };
  }
  if (token > record.lastToken) return { kind: "notHolder", lease, token };
  switch (record.lastEndReason) {
    case "revoked":
    case "collected":
      return { kind: "revoked", lease, token, reason: record.history.at(-1)?.details?.reason ?? "" };
    case "expired":
    case "ended":
      return { kind: "termExpired", lease, token };
    default:
      return { kind: "notHolder", lease, token };
  }
}

/**
 * Whether the record stands at the expected revision; 0 expects that the lease does not exist. A change in the open
 * batch has no revision yet, so it conflicts with every expectation.
 */
export function checkRevision(
  lease: LeaseKey,
  record: LeaseRecord | undefined,
  expected: bigint | undefined,
): Refusal | undefined {
  if (expected === undefined) return undefined;
  const read = () => record?.revision.sequence ?? 0n;
  const revision = read();
  const isOpen = record !== undefined && revision === openSequence;
  return revision === expected && !isOpen ? undefined : revisionConflict(lease, expected, read);
}

/**
 * The refusal of a change that expected another revision. The one it says is read when the answer leaves: a change in
 * the open batch gets its revision with the commit.
 */
export function revisionConflict(lease: LeaseKey, expected: bigint, read: () => bigint): Refusal {
  return {
    kind: "revisionConflict",
    lease,
    expected,
    get revision() {
      return read();
    },
  };
}
