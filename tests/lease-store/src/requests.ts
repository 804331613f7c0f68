import {
  LeaseServiceAcquireRequest,
  LeaseServiceCreateRequest,
  type LeaseServiceGetResponse,
  LeaseServiceReleaseRequest,
  LeaseServiceRenewRequest,
  LeaseServiceUpdateRequest,
  ReadConsistency,
} from "@tenure/contracts";
import type { Deployment } from "@tenure/testkit";

/** The key of a lease of the tests. */
export function key(name: string) {
  return { namespace: "conformance", name };
}

/** A duration on the wire. */
export function duration(ms: number) {
  return { seconds: BigInt(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1_000_000 };
}

let attempts = 0n;

/** A fresh attempt of this test process. */
export function attempt() {
  attempts += 1n;
  return { clientId: `test-${process.pid}`, number: attempts, settledBelow: 0n };
}

/** A claim of one lease of a second, by a holder. */
export function acquireRequest(holder: string, name: string, leaseMs = 2_000): LeaseServiceAcquireRequest {
  return LeaseServiceAcquireRequest.fromPartial({
    attempt: attempt(),
    claims: [{ lease: key(name), spec: { leaseDuration: duration(leaseMs) } }],
    claimant: { holder },
  });
}

/** Takes a lease and gives its grant. */
export async function acquire({ leases }: Deployment, holder: string, name: string, leaseMs?: number) {
  const { grants } = await leases.acquire(acquireRequest(holder, name, leaseMs), { principal: holder });
  const hold = grants[0]?.hold;
  if (hold === undefined) throw new Error("an acquire was answered without a grant");
  return { hold, token: hold.token, revision: grants[0]?.revision ?? 0n };
}

/** Renews one term. */
export async function renew({ leases }: Deployment, holder: string, name: string, token: bigint, sendNumber = 1n) {
  const request = LeaseServiceRenewRequest.fromPartial({ renewals: [{ lease: key(name), token, sendNumber }] });
  const { results } = await leases.renew(request, { principal: holder });
  return results[0];
}

/** Releases one term; whether it was held. */
export async function release({ leases }: Deployment, holder: string, name: string, token: bigint) {
  const items = [{ lease: key(name), token }];
  const request = LeaseServiceReleaseRequest.fromPartial({ attempt: attempt(), items });
  return (await leases.release(request, { principal: holder })).released[0];
}

/** Reads one lease from its owner. */
export async function read({ leases }: Deployment, name: string) {
  const consistency = ReadConsistency.LINEARIZABLE;
  const { lease }: LeaseServiceGetResponse = await leases.get({
    lease: key(name),
    read: { consistency, minRevision: 0n },
  });
  if (lease === undefined) throw new Error("a get was answered without a lease");
  return lease;
}

/** Creates a lease. */
export async function create({ leases }: Deployment, name: string, leaseMs = 2_000) {
  const spec = { leaseDuration: duration(leaseMs) };
  return (await leases.create(LeaseServiceCreateRequest.fromPartial({ attempt: attempt(), lease: key(name), spec })))
    .lease;
}

/** An update of a lease's labels. */
export function labelUpdate(
  name: string,
  labels: Record<string, string>,
  more: object = {},
): LeaseServiceUpdateRequest {
  return LeaseServiceUpdateRequest.fromPartial({
    attempt: attempt(),
    lease: key(name),
    spec: { labels },
    updateMask: ["labels"],
    ...more,
  });
}
