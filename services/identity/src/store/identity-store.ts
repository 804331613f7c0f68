import { type Bus, createClient } from "@tenure/bus";
import {
  type CandidateKey,
  durationFromMs,
  leaseKeyToWire,
  StoreServiceCollectRequest,
  StoreServiceDefinition,
} from "@tenure/contracts";
import type { LeaseKey, LeaseRecord } from "@tenure/core";
import { renewalRevisionOf } from "@tenure/core";
import { type Asking, LeaseClient, type StoreCalls } from "@tenure/session";

/** What is deleted, as the collector saw it. */
export interface CollectInput {
  readonly subject: { readonly lease: LeaseKey } | { readonly candidate: CandidateKey };
  readonly expectedRevision: bigint;
  readonly expectedRenewalRevision: bigint;
  readonly isDependent: boolean;
  readonly graceMs: number;
  readonly reason: string;
}

/** What the identity service asks of the lease store. */
export class IdentityStore extends LeaseClient {
  readonly #store: ReturnType<typeof createClient<typeof StoreServiceDefinition>>;

  constructor(bus: Bus, calls: StoreCalls) {
    super(calls);
    this.#store = createClient(bus, StoreServiceDefinition);
  }

  /** Deletes what is dead by the owner's own clock, or what depended on it; false: spared, or gone already. */
  async collect(input: CollectInput, { deadlineMs, principal, signal }: Asking): Promise<boolean> {
    const { expectedRenewalRevision, expectedRevision, graceMs, isDependent, reason, subject } = input;
    const request = StoreServiceCollectRequest.fromPartial({
      subject:
        "lease" in subject
          ? { $case: "lease", value: leaseKeyToWire(subject.lease) }
          : { $case: "candidate", value: subject.candidate },
      expectedRevision,
      expectedRenewalRevision,
      dependent: isDependent,
      grace: durationFromMs(graceMs),
      note: { reason },
    });
    const options = { deadlineMs, principal, ...(signal === undefined ? {} : { signal }) };
    return (await this.#store.collect(request, options)).collected;
  }
}

/** What the collector expects of a lease that it saw. */
export function expectationOf(record: LeaseRecord) {
  return { expectedRevision: record.revision.sequence, expectedRenewalRevision: renewalRevisionOf(record) };
}
