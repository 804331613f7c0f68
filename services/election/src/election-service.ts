import { type BusServer, serve } from "@tenure/bus";
import { ElectionServiceDefinition } from "@tenure/contracts";
import { defaultElectionTiming, type LeaseKey } from "@tenure/core";
import { celRankings } from "@tenure/expression";
import { Fault } from "@tenure/kernel";
import { JetStreamSnapshotStore, JetStreamTransport } from "@tenure/log";
import { type AppliedBatch, LogReader, logDecoder, replicaBehind } from "@tenure/reader";
import { type PresenceWatch, type ServiceContext, watchPresence } from "@tenure/runtime";
import { OwnerRoutes, StoreCalls } from "@tenure/session";
import type { electionFields } from "./config.ts";
import { Coordinator, type CoordinatorListener } from "./coordinator/coordinator.ts";
import { DecisionSender } from "./coordinator/decision-sender.ts";
import { LiveStreams } from "./coordinator/live-streams.ts";
import { ShardKeeper } from "./coordinator/shard-keeper.ts";
import { shardOf } from "./coordinator/shard-moves.ts";
import { setStrategy } from "./handlers/change-strategy.ts";
import type { ElectionContext } from "./handlers/election-context.ts";
import { cancelEndOfTerm, preempt, stepDown } from "./handlers/end-term.ts";
import { get } from "./handlers/glance.ts";
import { observe } from "./handlers/observe.ts";
import { dryRun, explain } from "./handlers/question.ts";
import { elect } from "./handlers/vendor-elect.ts";
import { ElectionMetrics } from "./metrics.ts";
import { ElectionStore } from "./store/election-store.ts";

type Context = ServiceContext<typeof electionFields>;

/** Who the store takes this service for when it acts by itself. */
const principal = "election";

/** Starts a replica of the election service. It coordinates and answers when it has read the log. */
export async function startElectionService(context: Context): Promise<AsyncDisposable> {
  const service = new ElectionService(context);
  await service.start();
  return service;
}

/** The wiring of one replica. It has no rules of its own. */
class ElectionService implements AsyncDisposable {
  readonly #context: Context;
  readonly #metrics: ElectionMetrics;
  readonly #transport: JetStreamTransport;
  readonly #snapshots: JetStreamSnapshotStore;
  readonly #reader: LogReader;
  readonly #routes: OwnerRoutes;
  readonly #calls: StoreCalls;
  readonly #store: ElectionStore;
  readonly #expressions = celRankings();
  readonly #live: LiveStreams;
  readonly #coordinator: Coordinator;
  readonly #presence: PresenceWatch;
  readonly #observers = { count: 0 };
  #keeper: ShardKeeper | undefined;
  #server: BusServer | undefined;
  #followedSinceMs: number | undefined;

  constructor(context: Context) {
    const { bus, clock, config, incarnation, log, metrics, random } = context;
    this.#context = context;
    this.#metrics = new ElectionMetrics(metrics);
    const onInterruption = (why: string) => log.warn({ why }, "the log is followed anew");
    this.#transport = new JetStreamTransport({ control: bus, clock, random, onInterruption });
    this.#snapshots = new JetStreamSnapshotStore({ bus, clock, random });
    const ports = { clock, random, transport: this.#transport, snapshots: this.#snapshots, codec: logDecoder };
    this.#routes = new OwnerRoutes(incarnation.partitions);
    this.#reader = new LogReader(
      ports,
      { incarnationId: incarnation.id, partitions: incarnation.partitions, keptChanges: config.keptChanges },
      {
        onReadiness: (isReady, why) => this.#onReadiness(isReady, why),
        onOwner: (partition, epoch) => this.#routes.note(partition, epoch),
        onApplied: (applied) => this.#onApplied(applied),
        onFault: (partition, doing, err) => log.warn({ partition, doing, err }, "a partition has trouble"),
      },
    );
    this.#calls = new StoreCalls({ bus, routes: this.#routes, clock, random });
    this.#store = new ElectionStore(bus, this.#calls, this.#routes, incarnation.partitions);
    const { liveBoundMs } = defaultElectionTiming;
    this.#live = new LiveStreams({ bus, clock, liveBoundMs, onChange: (lease) => this.#coordinator.note(lease) });
    this.#coordinator = this.#makeCoordinator();
    this.#presence = watchPresence(bus, clock, () => {});
    this.#metrics.show({
      shards: () => this.#keeper?.size ?? 0,
      leases: () => this.#coordinator.size,
      observers: () => this.#observers.count,
    });
  }

  async start(): Promise<void> {
    const { bus, health, presence } = this.#context;
    health.set("log", false, "the log is being read");
    presence.describe(() => ({ serves: [ElectionServiceDefinition.fullName] }));
    this.#server = this.#serve();
    await this.#reader.start();
    this.#keeper = this.#makeKeeper();
    await bus.flush(); // From here on callers find it.
  }

  /** Shards are handed over first, so that others go on at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#coordinator[Symbol.dispose]();
    await this.#keeper?.[Symbol.asyncDispose]();
    await this.#server?.stop();
    this.#presence[Symbol.dispose]();
    this.#live[Symbol.dispose]();
    this.#calls[Symbol.dispose]();
    await this.#reader[Symbol.asyncDispose]();
    this.#snapshots[Symbol.dispose]();
    this.#transport[Symbol.dispose]();
  }

  #makeCoordinator(): Coordinator {
    const { clock, config, incarnation, instance, log, random } = this.#context;
    return new Coordinator({
      clock,
      expressions: this.#expressions,
      partitions: incarnation.partitions,
      stateOf: (partition) => this.#reader.stateOf(partition),
      followedSinceMs: () => this.#followedSinceMs,
      isMine: (lease) => this.#keeper?.holds(shardOf(lease, config.shards)) ?? false,
      beatsOf: (lease) => this.#live.beatsOf(lease),
      decisions: new DecisionSender({
        store: this.#store,
        clock,
        random,
        instance,
        principal,
        onNotRecorded: (lease, err) => log.warn({ lease, err }, "a decision is not kept"),
      }),
      listener: this.#listener(),
      commandsUnderWay: config.commandsUnderWay,
    });
  }

  #listener(): CoordinatorListener {
    const { log } = this.#context;
    return {
      onLook: () => this.#metrics.noteLook(),
      onDone: (lease, decision, tookMs) => {
        const { outcome, reason, trigger, winner } = decision;
        this.#metrics.noteDone(decision, tookMs);
        log.info({ lease, outcome, trigger, winner, reason, tookMs: Math.round(tookMs) }, "decided");
      },
      onRefused: (lease, { outcome }, fault) => {
        this.#metrics.noteRefused(fault);
        log.debug({ lease, outcome, fault: fault.reason, message: fault.message }, "a decision was refused");
      },
    };
  }

  #makeKeeper(): ShardKeeper {
    const { clock, config, incarnation, instance, log } = this.#context;
    const { shardLeaseDurationMs: leaseDurationMs, shards } = config;
    return new ShardKeeper({
      store: this.#store,
      clock,
      instance,
      principal,
      shards,
      partitions: incarnation.partitions,
      leaseDurationMs,
      stateOf: (partition) => this.#reader.stateOf(partition),
      isReady: () => this.#reader.isReady,
      peers: () => this.#peers(),
      onTaken: (shard) => {
        log.info({ shard }, "coordinates a shard");
        this.#coordinator.scan((lease) => shardOf(lease, shards) === shard);
      },
      onLost: (shard) => log.info({ shard }, "no longer coordinates a shard"),
    });
  }

  #peers(): readonly string[] {
    const { instance } = this.#context;
    const there = this.#presence.instances.filter(({ ready, service }) => service === "election" && ready);
    return [...new Set([instance, ...there.map((one) => one.instance)])];
  }

  #onReadiness(isReady: boolean, why: string): void {
    const { clock, health } = this.#context;
    health.set("log", isReady, why);
    if (!isReady) {
      this.#followedSinceMs = undefined;
      return;
    }
    if (this.#followedSinceMs !== undefined) return;
    this.#followedSinceMs = clock.now();
    this.#coordinator.scan(() => true);
  }

  #onApplied(applied: AppliedBatch): void {
    this.#coordinator.onApplied(applied);
    const isOfShard = applied.events.some((event) => event.kind === "holdEnded" && this.#isShardLease(event.lease));
    if (isOfShard) this.#keeper?.onChanged();
  }

  #isShardLease(lease: LeaseKey): boolean {
    return this.#keeper?.isShardLease(lease) ?? false;
  }

  #serve(): BusServer {
    const { bus, log } = this.#context;
    const context = this.#handlerContext();
    const ready = () => {
      if (!this.#reader.isReady) throw replicaBehind("the log is being read");
      return context;
    };
    return serve(
      bus,
      ElectionServiceDefinition,
      {
        observe: (request, scope) => observe(ready(), request, scope),
        get: async (request, scope) => get(ready(), request, scope),
        list: () => refuse("List"),
        explain: async (request, scope) => explain(ready(), request, scope),
        dryRun: async (request, scope) => dryRun(ready(), request, scope),
        rehearse: () => refuse("Rehearse"),
        setStrategy: async (request, scope) => setStrategy(ready(), request, scope),
        preempt: async (request, scope) => preempt(ready(), request, scope),
        stepDown: async (request, scope) => stepDown(ready(), request, scope),
        cancelEndOfTerm: async (request, scope) => cancelEndOfTerm(ready(), request, scope),
        elect: async (request, scope) => elect(ready(), request, scope),
      },
      { onHandlerError: (err, { method }) => log.error({ err, method }, "a call failed by a mistake of the service") },
    );
  }

  #handlerContext(): ElectionContext {
    const { clock, config, instance, random } = this.#context;
    return {
      clock,
      random,
      instance,
      reader: this.#reader,
      store: this.#store,
      expressions: this.#expressions,
      stepDownCoolDownMs: config.stepDownCoolDownMs,
      mostObservers: config.observers,
      observers: this.#observers,
      viewOf: (lease) => this.#coordinator.viewOf(lease),
    };
  }
}

/** What this version does not offer. */
function refuse(method: string): never {
  throw new Fault({
    code: "UNIMPLEMENTED",
    reason: "NOT_SERVED",
    message: `ElectionService.${method} is not served by this version`,
    details: { applied: "NO" },
  });
}
