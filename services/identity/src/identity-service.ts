import { type BusServer, type CallContext, serve } from "@tenure/bus";
import { IdentityServiceDefinition, ServiceAlarm, timestampFromMs } from "@tenure/contracts";
import { BusLogReader, replicaBehind } from "@tenure/reader";
import type { ServiceContext } from "@tenure/runtime";
import { OwnerRoutes, StoreCalls } from "@tenure/session";
import { Collection } from "./collector/collection.ts";
import { Departures } from "./collector/departures.ts";
import { collectionPolicyOf, type identityFields, limitsOf } from "./config.ts";
import { DependentIndex } from "./directory/dependent-index.ts";
import { Directory } from "./directory/directory.ts";
import { deregister } from "./handlers/deregister.ts";
import { catchUpMs, type IdentityContext } from "./handlers/identity-context.ts";
import { get, list } from "./handlers/reads.ts";
import { register } from "./handlers/register.ts";
import { watch } from "./handlers/watch.ts";
import { IdentityMetrics } from "./metrics.ts";
import { IdentityStore } from "./store/identity-store.ts";

type Context = ServiceContext<typeof identityFields>;

/** Silence is counted in seconds: who is there may be known this much later than the log, and to watches this much. */
const restMs = 250;
const watchedRestMs = 25;

/** Who the store takes this service for when it acts by itself. */
const principal = "identity";

/** Starts a replica of the identity service. It answers when it has read the log; disposing of it ends its collecting. */
export async function startIdentityService(context: Context): Promise<AsyncDisposable> {
  const service = new IdentityService(context);
  await service.start();
  return service;
}

/** The wiring of one replica. It has no rules of its own. */
class IdentityService implements AsyncDisposable {
  readonly #context: Context;
  readonly #metrics: IdentityMetrics;
  readonly #reader: BusLogReader;
  readonly #routes: OwnerRoutes;
  readonly #calls: StoreCalls;
  readonly #watches = { count: 0 };
  #parts: Parts | undefined;
  #server: BusServer | undefined;
  #unfollow: () => void = () => {};
  #storeBackAtMs: number | undefined;
  /** Only of a hold-back that waits for an operator's word: the others end by themselves. */
  #alarms: ServiceAlarm[] = [];

  constructor(context: Context) {
    const { bus, clock, config, incarnation, log, metrics, random } = context;
    this.#context = context;
    this.#metrics = new IdentityMetrics(metrics);
    this.#routes = new OwnerRoutes(incarnation.partitions);
    const note = (what: object, message: string) => log.warn(what, message);
    const prefix = `${config.identityNamespace}/`;
    this.#reader = new BusLogReader(
      {
        bus,
        clock,
        random,
        incarnation,
        keptChanges: config.keptChanges,
        keeps: ({ lease }) => lease.startsWith(prefix),
        leftOut: { guarded: true },
        restMs: () => (this.#watches.count > 0 ? watchedRestMs : restMs),
        note,
      },
      {
        onReadiness: (isReady, why) => this.#onReadiness(isReady, why),
        onOwner: (partition, epoch) => {
          this.#routes.note(partition, epoch);
          this.#noteStoreBack();
        },
      },
    );
    this.#calls = new StoreCalls({ bus, routes: this.#routes, clock, random });
  }

  async start(): Promise<void> {
    const { bus, health, presence } = this.#context;
    health.set("log", false, "the log is being read");
    presence.describe(() => ({ serves: [IdentityServiceDefinition.fullName], alarms: this.#alarms }));
    this.#unfollow = bus.onStatus((status) => {
      if (status === "connected") this.#noteStoreBack();
    });
    this.#server = this.#serve();
    await this.#reader.start();
    await bus.flush(); // From here on callers find it.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unfollow();
    await this.#parts?.collection[Symbol.asyncDispose]();
    await this.#server?.stop();
    this.#parts?.directory[Symbol.dispose]();
    this.#parts?.dependents[Symbol.dispose]();
    this.#calls[Symbol.dispose]();
    await this.#reader[Symbol.asyncDispose]();
  }

  #serve(): BusServer {
    const { bus, clock, log } = this.#context;
    const ready = () => {
      if (this.#parts === undefined || !this.#reader.isReady) throw replicaBehind("the log is being read");
      return this.#parts;
    };
    const timed = async <Answer>(method: string, call: () => Promise<Answer>): Promise<Answer> => {
      const beganAtMs = clock.now();
      const answer = await call();
      this.#metrics.noteCall(method, clock.now() - beganAtMs);
      return answer;
    };
    return serve(
      bus,
      IdentityServiceDefinition,
      {
        register: (request, scope) => timed("register", async () => register(ready().handlers, request, scope)),
        deregister: (request, scope) => timed("deregister", async () => deregister(ready().handlers, request, scope)),
        get: async (request, scope) => get(ready().handlers, request, scope),
        list: (request, scope) => timed("list", async () => list(ready().handlers, request, scope)),
        watch: (request, scope: CallContext) => watch(ready().handlers, this.#watches, request, scope),
        collect: async (request, scope) => ready().collection.answer(request, scope),
      },
      { onHandlerError: (err, { method }) => log.error({ err, method }, "a call failed by a mistake of the service") },
    );
  }

  #onReadiness(isReady: boolean, why: string): void {
    this.#context.health.set("log", isReady, why);
    if (isReady && this.#parts === undefined) this.#parts = this.#open();
  }

  /** What needs the whole log: opened when it has been read for the first time. */
  #open(): Parts {
    const { bus, clock, config, instance, log, random } = this.#context;
    const reader = this.#reader;
    const store = new IdentityStore(bus, this.#calls);
    const directory = new Directory(reader, config.identityNamespace, (ageMs) => this.#metrics.noteBeatAge(ageMs));
    const dependents = new DependentIndex(reader);
    const departures = new Departures({
      store,
      directory,
      dependents,
      model: {
        partitions: reader.partitions,
        stateOf: (partition) => reader.stateOf(partition),
        reach: (revision) => reader.hub.reach(revision, catchUpMs),
      },
      onRemoved: (kind, identity, subject) => {
        this.#metrics.noteRemoved(kind);
        log.info({ identity, kind, subject }, "went with its identity");
      },
    });
    const collection = new Collection({
      bus,
      clock,
      random,
      reader,
      directory,
      departures,
      store,
      policy: collectionPolicyOf(config),
      principal,
      instance,
      resyncMs: config.collectionResyncMs,
      isDryRun: config.collectionDryRun,
      leaseDurationMs: config.collectorLeaseDurationMs,
      storeBackAtMs: () => this.#storeBackAtMs,
      listener: this.#collectorListener(),
      onCollector: (isCollector, token) => log.info({ isCollector, token: String(token) }, "collector"),
    });
    this.#metrics.show(directory, () => collection.isCollector);
    const handlers: IdentityContext = {
      clock,
      random,
      reader,
      store,
      directory,
      departures,
      limits: limitsOf(config),
      defaults: config,
      watchers: config.watchers,
      queuedPerWatcher: config.queuedPerWatcher,
      onNote: (what, message) => log.warn(what, message),
    };
    return { directory, dependents, collection, handlers };
  }

  #collectorListener() {
    const { clock, log } = this.#context;
    return {
      onHoldBack: (reason: string | undefined, id: string, dead: number, total: number) => {
        this.#metrics.noteHoldBack(reason);
        this.#alarms = reason === "tooManyDead" ? [heldBackAlarm(id, dead, total, clock.wall())] : [];
        if (reason === undefined) log.info({ dead, total }, "collection goes on");
        else log.warn({ reason, holdBackId: id, dead, total }, "collection holds back");
      },
      onWord: (holdBackId: string, reason: string, by: string) => {
        this.#alarms = [];
        log.warn({ holdBackId, reason, principal: by }, "an operator lets collection go on");
      },
      onCollected: (kind: string, name: string, lagMs: number) => {
        this.#metrics.noteCollected(kind, lagMs);
        log.info({ kind, name, lagMs: Math.round(lagMs) }, "collected");
      },
      onSpared: (kind: string, name: string) => {
        this.#metrics.noteSpared(kind);
        log.info({ kind, name }, "spared");
      },
      onFault: (doing: string, err: unknown) => log.warn({ doing, err }, "collection has trouble"),
    };
  }

  #noteStoreBack(): void {
    this.#storeBackAtMs = this.#context.clock.now();
  }
}

function heldBackAlarm(id: string, dead: number, total: number, sinceMs: number): ServiceAlarm {
  return ServiceAlarm.fromPartial({
    name: "COLLECTION_HELD_BACK",
    subject: "identities",
    message: `${dead} of ${total} identities look dead, too many to believe: nothing is collected; if they are, run \`tenure identities gc --go-on ${id} --reason WHY\``,
    since: timestampFromMs(sinceMs),
  });
}

interface Parts {
  readonly directory: Directory;
  readonly dependents: DependentIndex;
  readonly collection: Collection;
  readonly handlers: IdentityContext;
}
