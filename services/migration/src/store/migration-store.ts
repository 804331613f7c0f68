import { type Bus, createClient, type MessageCodec } from "@tenure/bus";
import {
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceDeleteRequest,
  LeaseServiceDeleteResponse,
  LeaseServiceListRequest,
  LeaseServiceListResponse,
  LeaseServiceReleaseRequest,
  LeaseServiceReleaseResponse,
  LeaseServiceRenewRequest,
  LeaseServiceRenewResponse,
  LeaseServiceUpdateRequest,
  LeaseServiceUpdateResponse,
  ReadConsistency,
  StoreServiceDefinition,
  StoreServicePutMigrationRequest,
  type StoreServicePutMigrationResponse,
} from "@tenure/contracts";
import type { StoreCalls } from "@tenure/session";

/** Who asks, and for how long the answer is waited for. */
export interface Asking {
  readonly principal: string;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

type Input<Message> = Message extends { fromPartial(object: infer Partial): unknown } ? Partial : never;

/** What the migration service asks of the lease store: each call goes to the owner of its key and is applied once. */
export class MigrationStore {
  readonly #calls: StoreCalls;
  readonly #store: ReturnType<typeof createClient<typeof StoreServiceDefinition>>;

  constructor(bus: Bus, calls: StoreCalls) {
    this.#calls = calls;
    this.#store = createClient(bus, StoreServiceDefinition);
  }

  acquire(request: Input<typeof LeaseServiceAcquireRequest>, asking: Asking): Promise<LeaseServiceAcquireResponse> {
    const message = LeaseServiceAcquireRequest.fromPartial(request);
    return this.#call("LeaseService.Acquire", LeaseServiceAcquireRequest, LeaseServiceAcquireResponse, message, asking);
  }

  renew(request: Input<typeof LeaseServiceRenewRequest>, asking: Asking): Promise<LeaseServiceRenewResponse> {
    const message = LeaseServiceRenewRequest.fromPartial(request);
    return this.#call("LeaseService.Renew", LeaseServiceRenewRequest, LeaseServiceRenewResponse, message, asking);
  }

  release(request: Input<typeof LeaseServiceReleaseRequest>, asking: Asking): Promise<LeaseServiceReleaseResponse> {
    const message = LeaseServiceReleaseRequest.fromPartial(request);
    return this.#call("LeaseService.Release", LeaseServiceReleaseRequest, LeaseServiceReleaseResponse, message, asking);
  }

  update(request: Input<typeof LeaseServiceUpdateRequest>, asking: Asking): Promise<LeaseServiceUpdateResponse> {
    const message = LeaseServiceUpdateRequest.fromPartial(request);
    return this.#call("LeaseService.Update", LeaseServiceUpdateRequest, LeaseServiceUpdateResponse, message, asking);
  }

  delete(request: Input<typeof LeaseServiceDeleteRequest>, asking: Asking): Promise<LeaseServiceDeleteResponse> {
    const message = LeaseServiceDeleteRequest.fromPartial(request);
    return this.#call("LeaseService.Delete", LeaseServiceDeleteRequest, LeaseServiceDeleteResponse, message, asking);
  }

  /** A log position that is not before anything acknowledged about any lease until now. */
  async freshRevision(asking: Asking): Promise<bigint> {
    const read = { consistency: ReadConsistency.LINEARIZABLE };
    const message = LeaseServiceListRequest.fromPartial({ read, page: { size: 1 } });
    const types = [LeaseServiceListRequest, LeaseServiceListResponse] as const;
    return (await this.#call("LeaseService.List", ...types, message, asking)).page?.revision ?? 0n;
  }

  /** Puts a configuration in force on its lock's lease, or ends it. */
  putMigration(
    request: Input<typeof StoreServicePutMigrationRequest>,
    { deadlineMs, principal, signal }: Asking,
  ): Promise<StoreServicePutMigrationResponse> {
    const message = StoreServicePutMigrationRequest.fromPartial(request);
    return this.#store.putMigration(message, { deadlineMs, principal, signal });
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
