import { type Bus, createClient } from "@tenure/bus";
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
import { type Asking, LeaseClient, type OwnerRoutes, type StoreCalls } from "@tenure/session";

/** Faults of an owner that another way to it does not cure. */
const finalReasons: ReadonlySet<string> = new Set(["BUS_DISCONNECTED", "BUS_CLOSED", "PARTITION_HALTED", "RECOVERING"]);

/** What coordinators and their callers ask of the lease store: each call goes to the owner of its lease. */
export class ElectionStore extends LeaseClient {
  readonly #routes: OwnerRoutes;
  readonly #partitions: number;
  readonly #store: ReturnType<typeof createClient<typeof StoreServiceDefinition>>;

  constructor(bus: Bus, calls: StoreCalls, routes: OwnerRoutes, partitions: number) {
    super(calls);
    this.#routes = routes;
    this.#partitions = partitions;
    this.#store = createClient(bus, StoreServiceDefinition);
  }

  /** Asks candidates for a sign of life; resolves with the log position of the question. */
  async ping(lease: LeaseKey, request: StoreServicePingRequest, asking: Asking): Promise<bigint> {
    return (await this.#atOwner(lease, asking, (options) => this.#store.ping(request, options))).revision;
  }

  async elect(lease: LeaseKey, request: StoreServiceElectRequest, asking: Asking): Promise<Lease> {
    return leaseIn(await this.#atOwner(lease, asking, (options) => this.#store.elect(request, options)));
  }

  async markEndOfTerm(lease: LeaseKey, request: StoreServiceMarkEndOfTermRequest, asking: Asking): Promise<Lease> {
    return leaseIn(await this.#atOwner(lease, asking, (options) => this.#store.markEndOfTerm(request, options)));
  }

  async putStrategy(lease: LeaseKey, request: StoreServicePutStrategyRequest, asking: Asking): Promise<Lease> {
    return leaseIn(await this.#atOwner(lease, asking, (options) => this.#store.putStrategy(request, options)));
  }

  async recordDecision(lease: LeaseKey, request: StoreServiceRecordDecisionRequest, asking: Asking): Promise<void> {
    await this.#atOwner(lease, asking, (options) => this.#store.recordDecision(request, options));
  }

  /**
   * Calls the owner straight if it is known, and by way of any replica if it does not answer for the partition any
   * more. What is sent names its revision or its attempt, or does no harm when it arrives twice.
   */
  async #atOwner<Answer>(
    lease: LeaseKey,
    { deadlineMs, principal, signal }: Asking,
    call: (options: OwnerOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const options = { deadlineMs, principal, signal };
    const partition = partitionOf(lease, this.#partitions);
    const route = this.#routes.routeOf(partition);
    const epoch = this.#routes.epochOf(partition);
    if (route === undefined || epoch === undefined) return await call(options);
    try {
      return await call({ ...options, route });
    } catch (thrown) {
      const isAway = thrown instanceof Fault && thrown.code === "UNAVAILABLE" && !finalReasons.has(thrown.reason);
      if (!isAway) throw thrown;
      this.#routes.drop(partition, epoch);
      return await call(options);
    }
  }
}

interface OwnerOptions {
  readonly deadlineMs: number;
  readonly principal: string;
  readonly signal: AbortSignal | undefined;
  readonly route?: string;
}

function leaseIn({ lease }: { readonly lease: Lease | undefined }): Lease {
  if (lease !== undefined) return lease;
  throw new Fault({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message: "the store's answer has no lease" });
}
