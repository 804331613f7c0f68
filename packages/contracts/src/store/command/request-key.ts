import { type LeaseKey as CoreLeaseKey, checkCandidateName, checkLeaseKey, leaseKey } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type { CandidateKey, LeaseKey } from "../../gen/tenure/v1/key.ts";
import { Reading, shown } from "../reading.ts";
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

/** The lease that a read names in its field `lease`. */
export function leaseOfRequest(request: { readonly lease: LeaseKey | undefined }): CoreLeaseKey | Fault {
  const reading = new Reading();
  const lease = requestLease(reading, "lease", request.lease);
  return reading.refusal() ?? lease;
}

/** The candidate that a read names in its field `candidate`. */
export function candidateOfRequest(request: { readonly candidate: CandidateKey | undefined }): CandidateName | Fault {
  const reading = new Reading();
  const named = requestCandidate(reading, "candidate", request.candidate);
  return reading.refusal() ?? named;
}
