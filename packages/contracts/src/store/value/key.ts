import { type LeaseKey as CoreLeaseKey, leaseKey, nameOf, namespaceOf } from "@tenure/core";
import type { CandidateKey, LeaseKey } from "../../gen/tenure/v1/key.ts";
import type { Reading } from "../reading.ts";

/** A lease's key on the wire. */
export function leaseKeyToWire(key: CoreLeaseKey): LeaseKey {
  return { namespace: namespaceOf(key), name: nameOf(key) };
}

/** A lease's key from the wire; that it is missing is rejected. */
export function leaseKeyFromWire(reading: Reading, field: string, key: LeaseKey | undefined): CoreLeaseKey {
  if (key !== undefined) return leaseKey(key.namespace, key.name);
  reading.reject(field, "is required", "absent");
  return "/";
}

/** A candidate's key on the wire. */
export function candidateKeyToWire(lease: CoreLeaseKey, name: string): CandidateKey {
  return { lease: leaseKeyToWire(lease), name };
}

/** A candidate with its lease. */
export interface CandidateName {
  readonly lease: CoreLeaseKey;
  readonly candidate: string;
}

/** A candidate's key from the wire; that it or its lease is missing is rejected. */
export function candidateKeyFromWire(reading: Reading, field: string, key: CandidateKey | undefined): CandidateName {
  if (key !== undefined) {
    return { lease: leaseKeyFromWire(reading, `${field}.lease`, key.lease), candidate: key.name };
  }
  reading.reject(field, "is required", "absent");
  return { lease: "/", candidate: "" };
}

/** A uid on the wire: its decimal digits; empty for 0, which is none. */
export function uidToWire(uid: number): string {
  return uid === 0 ? "" : String(uid);
}

/** A uid from the wire; empty is 0. A text that no server gave is -1, which equals no record's uid. */
export function uidFromWire(uid: string): number {
  if (uid === "") return 0;
  return /^[1-9]\d{0,15}$/.test(uid) ? Number(uid) : -1;
}
