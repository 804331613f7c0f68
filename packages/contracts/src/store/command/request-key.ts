import {
  type LeaseKey as CoreLeaseKey,
  checkCandidateName,
  checkGuardedKey,
  checkLeaseKey,
  leaseKey,
} from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type { GuardServiceGetRequest, GuardServiceListRequest } from "../../gen/tenure/v1/guard.ts";
import type { CandidateKey, LeaseKey } from "../../gen/tenure/v1/key.ts";
import type { ReadOptions } from "../../gen/tenure/v1/read.ts";
import { Reading, shown } from "../reading.ts";
import { checkRead } from "../select/read-options.ts";
import { type CandidateName, candidateKeyFromWire, leaseKeyFromWire } from "../value/key.ts";

/** The lease that a request names; a missing or illegal name is rejected. */
export function requestLease(reading: Reading, field: string, key: LeaseKey | undefined): CoreLeaseKey {
  const lease = leaseKeyFromWire(reading, field, key);
  if (key === undefined) return lease;
  // Core's key is one text: with a '/' of its own the namespace would take part of the name's place.
  if (key.namespace.includes("/")) reading.reject(`${field}.namespace`, "must not contain '/'", shown(key.namespace));
  else reading.rejectAll(checkLeaseKey(lease, field));
  return lease;
}

/**
 * The lease of one entry of a list. Its name is not judged: one that is illegal is not held by anyone, which is what
 * the entry is then told. The entry's path is spelled only when it is needed.
 */
export function entryLease(reading: Reading, list: string, place: number, key: LeaseKey | undefined): CoreLeaseKey {
  if (key !== undefined) return leaseKey(key.namespace, key.name);
  return leaseKeyFromWire(reading, `${list}[${place}].lease`, key);
}

/** The candidate that a request names; a missing or illegal name is rejected. */
export function requestCandidate(reading: Reading, field: string, key: CandidateKey | undefined): CandidateName {
  const named = candidateKeyFromWire(reading, field, key);
  if (key === undefined) return named;
  if (key.lease !== undefined) requestLease(reading, `${field}.lease`, key.lease);
  reading.rejectAll(checkCandidateName(named.candidate, `${field}.name`));
  return named;
}

/** What every read says beside its key. */
interface Asked {
  readonly read: ReadOptions | undefined;
}

/** The lease that a read names in its field `lease`, if nothing is wrong with the read. */
export function leaseOfRequest(request: Asked & { readonly lease: LeaseKey | undefined }): CoreLeaseKey | Fault {
  const reading = new Reading();
  const lease = requestLease(reading, "lease", request.lease);
  checkRead(reading, request.read);
  return reading.refusal() ?? lease;
}

/** The lease whose guarded value a read names, if nothing is wrong with the read. */
export function leaseOfGuardedKey(request: GuardServiceGetRequest): CoreLeaseKey | Fault {
  const reading = new Reading();
  const lease = requestLease(reading, "lease", request.lease);
  reading.rejectAll(checkGuardedKey(request.key));
  checkRead(reading, request.read);
  return reading.refusal() ?? lease;
}

/** The lease whose guarded values a read asks for, if nothing is wrong with the read. */
export function leaseOfGuardedKeys(request: GuardServiceListRequest): CoreLeaseKey | Fault {
  const reading = new Reading();
  const lease = requestLease(reading, "lease", request.lease);
  if (request.keyPrefix !== "") reading.rejectAll(checkGuardedKey(request.keyPrefix, "key_prefix"));
  checkRead(reading, request.read);
  return reading.refusal() ?? lease;
}

/** The candidate that a read names in its field `candidate`, if nothing is wrong with the read. */
export function candidateOfRequest(
  request: Asked & { readonly candidate: CandidateKey | undefined },
): CandidateName | Fault {
  const reading = new Reading();
  const named = requestCandidate(reading, "candidate", request.candidate);
  checkRead(reading, request.read);
  return reading.refusal() ?? named;
}
