import { type BusServer, type CallContext, createClient, serve } from "@tenure/bus";
import {
  CollectionState,
  IdentityServiceCollectRequest,
  type IdentityServiceCollectResponse,
  IdentityServiceDefinition,
} from "@tenure/contracts";
import { Fault, invalid } from "@tenure/kernel";
import type { ServiceContext } from "@tenure/runtime";
import { Collector } from "./collector.ts";
import type { CollectorPorts } from "./collector-ports.ts";
import { Stewardship } from "./stewardship.ts";

/** What collection stands on. */
export interface CollectionOptions extends Omit<CollectorPorts, "term"> {
  readonly bus: ServiceContext<Record<never, never>>["bus"];
  readonly leaseDurationMs: number;
  /** Told when this replica begins and ceases to collect. */
  onCollector(isCollector: boolean, token: bigint): void;
}

/** The last token of the subject on which the collecting replica answers. */
const collectorRoute = "collector";

/**
 * Collection as a whole: any replica may do it, one does. The one that holds the lease runs the collector and answers
 * what operators ask; the others pass their questions on to it.
 */
export class Collection implements AsyncDisposable {
  readonly #options: CollectionOptions;
  readonly #client: ReturnType<typeof createClient<typeof IdentityServiceDefinition>>;
  readonly #steward: Stewardship;
  readonly #collector: Collector;
  readonly #unfollow: () => void;
  #term: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  #server: BusServer | undefined;

  constructor(options: CollectionOptions) {
    const { bus, clock, directory, instance, leaseDurationMs, principal, random, store } = options;
    this.#options = options;
    this.#client = createClient(bus, IdentityServiceDefinition);
    this.#steward = new Stewardship({
      store,
      clock,
      random,
      instance,
      principal,
      leaseDurationMs,
      onHeld: (token) => this.#begin(token),
      onLost: () => this.#end(),
    });
    this.#collector = new Collector({ ...options, term: this.#steward });
    this.#unfollow = directory.follow(({ liveness }) => {
      if (liveness === "expired" || liveness === "gone") this.#collector.stir();
    });
  }

  /** Whether this replica collects. */
  get isCollector(): boolean {
    return this.#steward.isHeld;
  }

  /** Answers an operator: here, or where the collector is. */
  async answer(request: IdentityServiceCollectRequest, scope: CallContext): Promise<IdentityServiceCollectResponse> {
    if (this.isCollector) return await this.#answerHere(request, scope);
    const { principal, signal } = scope;
    try {
      const options = { principal, signal, deadlineMs: scope.remainingMs(), route: collectorRoute };
      return await this.#client.collect(request, options);
    } catch (thrown) {
      const isNobody = thrown instanceof Fault && thrown.reason === "NO_RESPONDER";
      if (!isNobody) throw thrown;
      if (request.stateOnly) return { items: [], state: this.#ownState() };
      throw noCollector();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unfollow();
    this.#end();
    await this.#running;
    await this.#steward[Symbol.asyncDispose]();
    await this.#server?.stop();
  }

  async #answerHere(
    { dryRun, goOnHoldBackId, note, stateOnly }: IdentityServiceCollectRequest,
    { principal, signal }: CallContext,
  ): Promise<IdentityServiceCollectResponse> {
    if (stateOnly) return { items: [], state: this.#collector.state };
    if (goOnHoldBackId !== "") {
      const reason = note?.reason ?? "";
      if (reason === "") {
        throw invalid([{ field: "note.reason", rule: "is required to let a hold-back go on", value: "empty" }]);
      }
      // A word given in a dry run would let the collector go on for real.
      if (!dryRun) this.#collector.goOn(goOnHoldBackId, reason, principal);
    }
    const items = await this.#collector.collectNow(dryRun, signal);
    return { items, state: this.#collector.state };
  }

  #begin(token: bigint): void {
    this.#end();
    const term = new AbortController();
    this.#term = term;
    const { bus, onCollector } = this.#options;
    const before = Promise.all([this.#running, this.#server?.stop()]);
    this.#server = serve(
      bus,
      IdentityServiceDefinition,
      { collect: (request, scope) => this.#answerHere(IdentityServiceCollectRequest.fromPartial(request), scope) },
      { route: collectorRoute },
    );
    onCollector(true, token);
    this.#running = before.then(() => this.#collector.run(term.signal));
  }

  #end(): void {
    if (this.#term === undefined) return;
    this.#term.abort();
    this.#term = undefined;
    void this.#server?.stop();
    this.#options.onCollector(false, 0n);
  }

  #ownState(): CollectionState {
    const { dead, total } = this.#collector.state;
    return CollectionState.fromPartial({ dead, total });
  }
}

function noCollector(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "NO_RESPONDER",
    message: "no replica of the identity service collects at present: try again in a few seconds",
    details: { applied: "NO", retryAfterMs: 2_000 },
  });
}
