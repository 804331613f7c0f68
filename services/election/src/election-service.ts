import { type BusServer, serve } from "@tenure/bus";
import { ElectionServiceDefinition, ServiceAlarm } from "@tenure/contracts";
import { celRankings } from "@tenure/expression";
import { Fault } from "@tenure/kernel";
import { BusLogReader, replicaBehind } from "@tenure/reader";
import { type PresenceWatch, type ServiceContext, watchPresence } from "@tenure/runtime";
import { OwnerRoutes, StoreCalls } from "@tenure/session";
import type { electionFields } from "./config.ts";
import { Coordination, type CoordinationListener } from "./coordinator/coordination.ts";
import { setStrategy } from "./handlers/change-strategy.ts";
import type { ElectionContext } from "./handlers/election-context.ts";
import { cancelEndOfTerm, preempt, stepDown } from "./handlers/end-term.ts";
import { get, isOfElection, list } from "./handlers/glance.ts";
import { observe } from "./handlers/observe.ts";
import { dryRun, explain } from "./handlers/question.ts";
import { elect } from "./handlers/vendor-elect.ts";
import { ElectionMetrics } from "./metrics.ts";
import { ElectionStore } from "./store/election-store.ts";

type Context = ServiceContext<typeof electionFields>;

/** Who the store takes this service for when it acts by itself. */
const principal = "election";

/** A shard whose coordinator was killed is taken long before. */
const shardAlarmMs = 15_000;

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
  readonly #reader: BusLogReader;
  readonly #routes: OwnerRoutes;
  readonly #calls: StoreCalls;
  readonly #store: ElectionStore;
  readonly #expressions = celRankings();
  readonly #coordination: Coordination;
  readonly #presence: PresenceWatch;
  readonly #observers = { count: 0 };
  #server: BusServer | undefined;

  constructor(context: Context) {
    const { bus, clock, config, health, incarnation, log, metrics, random } = context;
    this.#context = context;
    this.#metrics = new ElectionMetrics(metrics);
    this.#routes = new OwnerRoutes(incarnation.partitions);
    const note = (what: object, message: string) => log.warn(what, message);
    this.#reader = new BusLogReader(
      {
        bus,
        clock,
        random,
        incarnation,
        keptChanges: config.keptChanges,
        keeps: isOfElection,
        leftOut: { guarded: true, secrets: true },
        restMs: () => this.#coordination.restMs(),
        note,
      },
      {
        onReadiness: (isReady, why) => {
          health.set("log", isReady, why);
          this.#coordination.onReadiness(isReady);
        },
        onOwner: (partition, epoch) => this.#routes.note(partition, epoch),
        onApplied: (applied) => this.#coordination.onApplied(applied),
      },
    );
    this.#calls = new StoreCalls({ bus, routes: this.#routes, clock, random });
    this.#store = new ElectionStore(this.#calls, incarnation.partitions);
    this.#coordination = this.#makeCoordination();
    this.#presence = watchPresence(bus, clock, () => {});
    this.#metrics.show({
      shards: () => this.#coordination.shards,
      uncoordinatedShards: () => this.#coordination.shardsFreeFor(shardAlarmMs).length,
      leases: () => this.#coordination.leases,
      observers: () => this.#observers.count,
    });
  }

  async start(): Promise<void> {
    const { bus, health, presence } = this.#context;
    health.set("log", false, "the log is being read");
    presence.describe(() => ({ serves: [ElectionServiceDefinition.fullName], alarms: this.#alarms() }));
    this.#server = this.#serve();
    await this.#reader.start();
    this.#coordination.begin();
    await bus.flush(); // From here on callers find it.
  }

  /** Shards are handed over first, so that others go on at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#coordination[Symbol.asyncDispose]();
    await this.#server?.stop();
    this.#presence[Symbol.dispose]();
    this.#calls[Symbol.dispose]();
    await this.#reader[Symbol.asyncDispose]();
  }

  #makeCoordination(): Coordination {
    const { bus, clock, config, instance, random } = this.#context;
    return new Coordination({
      clock,
      random,
      bus,
      reader: this.#reader,
      store: this.#store,
      expressions: this.#expressions,
      instance,
      principal,
      shards: config.shards,
      shardLeaseDurationMs: config.shardLeaseDurationMs,
      commandsUnderWay: config.commandsUnderWay,
      listener: this.#listener(),
      peers: () => this.#peers(),
    });
  }

  #listener(): CoordinationListener {
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
      onTaken: (shard) => log.info({ shard }, "coordinates a shard"),
      onLost: (shard) => log.info({ shard }, "no longer coordinates a shard"),
      onNotRecorded: (lease, err) => log.warn({ lease, err }, "a decision is not kept"),
    };
  }

  #alarms(): ServiceAlarm[] {
    const shards = this.#coordination.shardsFreeFor(shardAlarmMs);
    if (shards.length === 0) return [];
    const message = `nobody coordinates shards ${shards.join(", ")}: of their leases nobody is elected; look at the logs of the election service and of lease-store`;
    return [ServiceAlarm.fromPartial({ name: "SHARDS_UNCOORDINATED", subject: "election", message })];
  }

  #peers(): readonly string[] {
    const { instance } = this.#context;
    const there = this.#presence.instances.filter(({ ready, service }) => service === "election" && ready);
    return [...new Set([instance, ...there.map((one) => one.instance)])];
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
        list: async (request, scope) => list(ready(), request, scope),
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
      viewOf: (lease) => this.#coordination.viewOf(lease),
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
