import { type Bus, createClient, type MessageCodec } from "@tenure/bus";
import {
  type CandidateKey,
  durationFromMs,
  type Grant,
  type Lease,
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceGetRequest,
  LeaseServiceGetResponse,
  LeaseServiceListRequest,
  LeaseServiceListResponse,
  LeaseServiceReleaseRequest,
  LeaseServiceReleaseResponse,
  LeaseServiceRenewRequest,
  LeaseServiceRenewResponse,
  LeaseServiceRevokeRequest,
  LeaseServiceRevokeResponse,
  LeaseServiceStealRequest,
  LeaseServiceStealResponse,
  LeaseServiceUpdateRequest,
  LeaseServiceUpdateResponse,
  leaseKeyToWire,
  ReadConsistency,
  StoreServiceCollectRequest,
  StoreServiceDefinition,
} from "@tenure/contracts";
import type { LeaseKey, LeaseRecord } from "@tenure/core";
import { renewalRevisionOf } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { StoreCalls } from "@tenure/session";

/** Who asks, and for how long the answer is waited for. */
export interface Asking {
  readonly principal: string;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

type Input<Message> = Message extends { fromPartial(object: infer Partial): unknown } ? Partial : never;

/** What is deleted, as the collector saw it. */
export interface CollectInput {
  readonly subject: { readonly lease: LeaseKey } | { readonly candidate: CandidateKey };
  readonly expectedRevision: bigint;
  readonly expectedRenewalRevision: bigint;
  readonly isDependent: boolean;
  readonly graceMs: number;
  readonly reason: string;
}

/** What the identity service asks of the lease store: each call goes to the owner of its key and is applied once. */
export class IdentityStore {
  readonly #calls: StoreCalls;
  readonly #store: ReturnType<typeof createClient<typeof StoreServiceDefinition>>;

  constructor(bus: Bus, calls: StoreCalls) {
    this.#calls = calls;
    this.#store = createClient(bus, StoreServiceDefinition);
  }

  async acquire(request: Input<typeof LeaseServiceAcquireRequest>, asking: Asking): Promise<Grant> {
    const message = LeaseServiceAcquireRequest.fromPartial(request);
    const types = [LeaseServiceAcquireRequest, LeaseServiceAcquireResponse] as const;
    const { grants } = await this.#call("LeaseService.Acquire", ...types, message, asking);
    return grantIn(grants[0]);
  }

  async steal(request: Input<typeof LeaseServiceStealRequest>, asking: Asking): Promise<Grant> {
    const message = LeaseServiceStealRequest.fromPartial(request);
    const types = [LeaseServiceStealRequest, LeaseServiceStealResponse] as const;
    const { grant } = await this.#call("LeaseService.Steal", ...types, message, asking);
    return grantIn(grant);
  }

  async update(request: Input<typeof LeaseServiceUpdateRequest>, asking: Asking): Promise<Lease | undefined> {
    const message = LeaseServiceUpdateRequest.fromPartial(request);
    const types = [LeaseServiceUpdateRequest, LeaseServiceUpdateResponse] as const;
    return (await this.#call("LeaseService.Update", ...types, message, asking)).lease;
  }

  renew(request: Input<typeof LeaseServiceRenewRequest>, asking: Asking): Promise<LeaseServiceRenewResponse> {
    const message = LeaseServiceRenewRequest.fromPartial(request);
    return this.#call("LeaseService.Renew", LeaseServiceRenewRequest, LeaseServiceRenewResponse, message, asking);
  }

  release(request: Input<typeof LeaseServiceReleaseRequest>, asking: Asking): Promise<LeaseServiceReleaseResponse> {
    const message = LeaseServiceReleaseRequest.fromPartial(request);
    const types = [LeaseServiceReleaseRequest, LeaseServiceReleaseResponse] as const;
    return this.#call("LeaseService.Release", ...types, message, asking);
  }

  /** Refuses further renewals of one term, which then runs out (rule 15). */
  async revoke(record: LeaseRecord, token: bigint, reason: string, asking: Asking): Promise<void> {
    const message = LeaseServiceRevokeRequest.fromPartial({
      lease: leaseKeyToWire(record.key),
      expectedRevision: record.revision.sequence,
      token,
      note: { reason },
    });
    const types = [LeaseServiceRevokeRequest, LeaseServiceRevokeResponse] as const;
    await this.#call("LeaseService.Revoke", ...types, message, asking);
  }

  /** A log position that is not before anything acknowledged about a lease until now. */
  async freshRevision(lease: LeaseKey, asking: Asking): Promise<bigint> {
    const message = LeaseServiceGetRequest.fromPartial({
      lease: leaseKeyToWire(lease),
      read: { consistency: ReadConsistency.LINEARIZABLE },
    });
    try {
      const types = [LeaseServiceGetRequest, LeaseServiceGetResponse] as const;
      return (await this.#call("LeaseService.Get", ...types, message, asking)).revision;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "NOT_FOUND") return thrown.details.revision ?? 0n;
      throw thrown;
    }
  }

  /** A log position that is not before anything acknowledged in a namespace until now. */
  async freshListRevision(namespace: string, asking: Asking): Promise<bigint> {
    const message = LeaseServiceListRequest.fromPartial({
      selector: { namespace },
      read: { consistency: ReadConsistency.LINEARIZABLE },
      page: { size: 1 },
    });
    const types = [LeaseServiceListRequest, LeaseServiceListResponse] as const;
    return (await this.#call("LeaseService.List", ...types, message, asking)).page?.revision ?? 0n;
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

  async #call<Request, Response>(
    name: string,
    requestType: MessageCodec<Request>,
    responseType: MessageCodec<Response>,
    request: Request,
    { deadlineMs, principal, signal }: Asking,
  ): Promise<Response> {
    const bytes = requestType.encode(request).finish();
    return responseType.decode(await this.#calls.call(name, bytes, { principal, deadlineMs }, signal));
  }
}

/** What the collector expects of a lease that it saw. */
export function expectationOf(record: LeaseRecord) {
  return { expectedRevision: record.revision.sequence, expectedRenewalRevision: renewalRevisionOf(record) };
}

function grantIn(grant: Grant | undefined): Grant {
  if (grant !== undefined) return grant;
  throw new Fault({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message: "the store's answer has no grant" });
}
