import type { MessageCodec } from "@tenure/bus";
import {
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceDeleteRequest,
  LeaseServiceDeleteResponse,
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
} from "@tenure/contracts";
import type { LeaseKey } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { StoreCalls } from "./store-calls.ts";

/** Who asks, and for how long the answer is waited for. */
export interface Asking {
  readonly principal: string;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a message is made from: any part of it. */
export type Input<Message> = Message extends { fromPartial(object: infer Partial): unknown } ? Partial : never;

interface Codec<Partial, Message> extends MessageCodec<Message> {
  fromPartial(object: Partial): Message;
}

const linearizable = { consistency: ReadConsistency.LINEARIZABLE };

/** Leases for the services of a deployment: each call goes to the owner of its key, and a change is applied once. */
export class LeaseClient {
  readonly #calls: StoreCalls;

  constructor(calls: StoreCalls) {
    this.#calls = calls;
  }

  acquire(request: Input<typeof LeaseServiceAcquireRequest>, asking: Asking): Promise<LeaseServiceAcquireResponse> {
    return this.#call("Acquire", LeaseServiceAcquireRequest, LeaseServiceAcquireResponse, request, asking);
  }

  renew(request: Input<typeof LeaseServiceRenewRequest>, asking: Asking): Promise<LeaseServiceRenewResponse> {
    return this.#call("Renew", LeaseServiceRenewRequest, LeaseServiceRenewResponse, request, asking);
  }

  release(request: Input<typeof LeaseServiceReleaseRequest>, asking: Asking): Promise<LeaseServiceReleaseResponse> {
    return this.#call("Release", LeaseServiceReleaseRequest, LeaseServiceReleaseResponse, request, asking);
  }

  steal(request: Input<typeof LeaseServiceStealRequest>, asking: Asking): Promise<LeaseServiceStealResponse> {
    return this.#call("Steal", LeaseServiceStealRequest, LeaseServiceStealResponse, request, asking);
  }

  revoke(request: Input<typeof LeaseServiceRevokeRequest>, asking: Asking): Promise<LeaseServiceRevokeResponse> {
    return this.#call("Revoke", LeaseServiceRevokeRequest, LeaseServiceRevokeResponse, request, asking);
  }

  update(request: Input<typeof LeaseServiceUpdateRequest>, asking: Asking): Promise<LeaseServiceUpdateResponse> {
    return this.#call("Update", LeaseServiceUpdateRequest, LeaseServiceUpdateResponse, request, asking);
  }

  delete(request: Input<typeof LeaseServiceDeleteRequest>, asking: Asking): Promise<LeaseServiceDeleteResponse> {
    return this.#call("Delete", LeaseServiceDeleteRequest, LeaseServiceDeleteResponse, request, asking);
  }

  /** A log position that is not before anything acknowledged about a lease until now. */
  async freshRevision(lease: LeaseKey, asking: Asking): Promise<bigint> {
    const request = { lease: leaseKeyToWire(lease), read: linearizable };
    try {
      return (await this.#call("Get", LeaseServiceGetRequest, LeaseServiceGetResponse, request, asking)).revision;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "NOT_FOUND") return thrown.details.revision ?? 0n;
      throw thrown;
    }
  }

  /** A log position that is not before anything acknowledged until now, in a namespace or in all. */
  async freshListRevision(asking: Asking, namespace = ""): Promise<bigint> {
    const request = { selector: { namespace }, read: linearizable, page: { size: 1 } };
    const { page } = await this.#call("List", LeaseServiceListRequest, LeaseServiceListResponse, request, asking);
    return page?.revision ?? 0n;
  }

  async #call<Partial, Request, Response>(
    name: string,
    requestType: Codec<Partial, Request>,
    responseType: MessageCodec<Response>,
    request: Partial,
    { deadlineMs, principal, signal }: Asking,
  ): Promise<Response> {
    const bytes = requestType.encode(requestType.fromPartial(request)).finish();
    return responseType.decode(
      await this.#calls.call(`LeaseService.${name}`, bytes, { principal, deadlineMs }, signal),
    );
  }
}
