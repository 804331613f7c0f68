import {
  LeaseServiceAcquireRequest,
  LeaseServiceDefinition,
  LeaseServiceReleaseRequest,
  ReadConsistency,
} from "@tenure/contracts";
import type { TestSession } from "./test-session.ts";

/** The full name of the service of leases. */
export const leases = "tenure.v1.LeaseService";

const { acquire, get } = LeaseServiceDefinition.methods;

/** The key of a lease of these tests. */
export const key = (name: string) => ({ namespace: "gateway", name });
/** A duration of whole seconds. */
export const seconds = (count: number) => ({ seconds: BigInt(count), nanos: 0 });

/** A claim of one lease for 30 s. */
export function claim(
  session: TestSession,
  name: string,
  holder: string,
  more: object = {},
): LeaseServiceAcquireRequest {
  return LeaseServiceAcquireRequest.fromPartial({
    attempt: { clientId: session.clientId, number: session.callNumber + 1n },
    claims: [{ lease: key(name), spec: { leaseDuration: seconds(30) } }],
    claimant: { holder },
    sendNumber: session.sendNumber + 1n,
    ...more,
  });
}

/** Resolves when all that the session sent before about the lease has been taken by its owner. */
export async function settled(session: TestSession, name: string) {
  const read = { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n };
  await session.call(leases, get, { lease: key(name), read });
}

/** Takes a lease. */
export async function take(session: TestSession, name: string, holder: string) {
  const { grants } = await session.call(leases, acquire, claim(session, name, holder));
  const hold = grants[0]?.hold;
  if (hold === undefined) throw new Error("no grant");
  return { hold, grant: grants[0] };
}

/** A release of one term. */
export const releaseOf = (session: TestSession, name: string, token: bigint) =>
  LeaseServiceReleaseRequest.fromPartial({
    attempt: { clientId: session.clientId, number: session.callNumber + 1n },
    items: [{ lease: key(name), token }],
  });
