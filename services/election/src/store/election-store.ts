import type { MessageCodec } from "@tenure/bus";
import {
  type Lease,
  StoreServiceDefinition,
  type StoreServiceElectRequest,
  type StoreServiceMarkEndOfTermRequest,
  type StoreServicePingRequest,
  type StoreServicePutStrategyRequest,
  type StoreServiceRecordDecisionRequest,
} from "@tenure/contracts";
import { type LeaseKey, partitionOf } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { type Asking, LeaseClient, type StoreCalls } from "@tenure/session";

const { elect, markEndOfTerm, ping, putStrategy, recordDecision } = StoreServiceDefinition.methods;

/** A method of the store's own service. */
interface Method<Request, Response> {
  readonly name: string;
  readonly requestType: MessageCodec<Request>;
  readonly responseType: MessageCodec<Response>;
}

/**
 * What coordinators and their callers ask of the lease store: each call goes to the owner of its lease. What is sent
 * names its revision or its attempt, or does no harm when it arrives twice.
 */
export class ElectionStore extends LeaseClient {
  readonly #calls: StoreCalls;
  readonly #partitions: number;

  constructor(calls: StoreCalls, partitions: number) {
    super(calls);
    this.#calls = calls;
    this.#partitions = partitions;
  }

  /** Asks candidates for a sign of life; resolves with the log position of the question. */
  async ping(lease: LeaseKey, request: StoreServicePingRequest, asking: Asking): Promise<bigint> {
    return (await this.#atOwner(lease, ping, request, asking)).revision;
  }

  async elect(lease: LeaseKey, request: StoreServiceElectRequest, asking: Asking): Promise<Lease> {
    return leaseIn(await this.#atOwner(lease, elect, request, asking));
  }

  async markEndOfTerm(lease: LeaseKey, request: StoreServiceMarkEndOfTermRequest, asking: Asking): Promise<Lease> {
    return leaseIn(await this.#atOwner(lease, markEndOfTerm, request, asking));
  }

  async putStrategy(lease: LeaseKey, request: StoreServicePutStrategyRequest, asking: Asking): Promise<Lease> {
    return leaseIn(await this.#atOwner(lease, putStrategy, request, asking));
  }

  async recordDecision(lease: LeaseKey, request: StoreServiceRecordDecisionRequest, asking: Asking): Promise<void> {
    await this.#atOwner(lease, recordDecision, request, asking);
  }

  async #atOwner<Request, Response>(
    lease: LeaseKey,
    { name, requestType, responseType }: Method<Request, Response>,
    request: Request,
    { deadlineMs, principal, signal }: Asking,
  ): Promise<Response> {
    const partition = partitionOf(lease, this.#partitions);
    const bytes = requestType.encode(request).finish();
    const options = { deadlineMs, principal };
    return responseType.decode(
      await this.#calls.callAtOwner(`StoreService.${name}`, partition, bytes, options, signal),
    );
  }
}

function leaseIn({ lease }: { readonly lease: Lease | undefined }): Lease {
  if (lease !== undefined) return lease;
  throw new Fault({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message: "the store's answer has no lease" });
}
