import { type BusServer, serve } from "@tenure/bus";
import { leaseKeyToWire, MigrationServiceDefinition } from "@tenure/contracts";
import { Fault, type Timer } from "@tenure/kernel";
import { BusLogReader, replicaBehind } from "@tenure/reader";
import type { ServiceContext } from "@tenure/runtime";
import { OwnerRoutes, StoreCalls } from "@tenure/session";
import type { migrationFields } from "./config.ts";
import { MigrationDirectory } from "./directory/migration-directory.ts";
import { serviceAlarms } from "./directory/service-alarms.ts";
import { apply, remove, validate } from "./handlers/documents.ts";
import type { MigrationContext } from "./handlers/migration-context.ts";
import { get, list } from "./handlers/reads.ts";
import { principal, report } from "./handlers/report.ts";
import { status } from "./handlers/status.ts";
import { watch } from "./handlers/watch.ts";
import { MigrationMetrics } from "./metrics.ts";
import { MigrationStore } from "./store/migration-store.ts";

type Context = ServiceContext<typeof migrationFields>;

/** Moves take seconds: what the log says may be known this much later, and to watches this much. */
const restMs = 250;
const watchedRestMs = 25;

/** How often leases of participants that fell silent are removed, and how long one removal may take. */
const cleaningMs = 10_000;
/** Removals at once; the next follow in the next round. */
const mostRemovals = 100;
/** Another replica has removed it, or its participant came back. */
const goneReasons: ReadonlySet<string> = new Set(["REVISION_CONFLICT", "LEASE_NOT_FOUND"]);

/** Starts a replica of the migration service. It answers when it has read the log. */
export async function startMigrationService(context: Context): Promise<AsyncDisposable> {
  const service = new MigrationService(context);
  await service.start();
  return service;
}

/** The wiring of one replica. It has no rules of its own, and nothing that another replica would miss. */
class MigrationService implements AsyncDisposable {
  readonly #context: Context;
  readonly #metrics: MigrationMetrics;
  readonly #reader: BusLogReader;
  readonly #calls: StoreCalls;
  readonly #store: MigrationStore;
  readonly #watchers = { count: 0 };
  #directory: MigrationDirectory | undefined;
  #server: BusServer | undefined;
  #cleaning: Timer | undefined;

  constructor(context: Context) {
    const { bus, clock, health, incarnation, log, metrics, random } = context;
    this.#context = context;
    this.#metrics = new MigrationMetrics(metrics);
    const routes = new OwnerRoutes(incarnation.partitions);
    const note = (what: object, message: string) => log.warn(what, message);
    this.#reader = new BusLogReader(
      {
        bus,
        clock,
        random,
        incarnation,
        keptChanges: 0,
        leftOut: { guarded: true, secrets: true },
        restMs: () => (this.#watchers.count > 0 ? watchedRestMs : restMs),
        note,
      },
      {
        onReadiness: (isReady, why) => {
          health.set("log", isReady, why);
          if (isReady && this.#directory === undefined) this.#open();
        },
        onOwner: (partition, epoch) => routes.note(partition, epoch),
      },
    );
    this.#calls = new StoreCalls({ bus, routes, clock, random });
    this.#store = new MigrationStore(bus, this.#calls);
  }

  async start(): Promise<void> {
    const { bus, clock, health, presence } = this.#context;
    health.set("log", false, "the log is being read");
    presence.describe(() => ({
      serves: [MigrationServiceDefinition.fullName],
      alarms: this.#directory === undefined ? [] : serviceAlarms(this.#directory),
    }));
    this.#server = this.#serve();
    await this.#reader.start();
    this.#cleaning = clock.schedule(cleaningMs, () => void this.#clean());
    await bus.flush(); // From here on callers find it.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cleaning?.cancel();
    await this.#server?.stop();
    this.#directory?.[Symbol.dispose]();
    this.#calls[Symbol.dispose]();
    await this.#reader[Symbol.asyncDispose]();
  }

  #open(): void {
    const { log } = this.#context;
    this.#directory = new MigrationDirectory(this.#reader);
    this.#metrics.show(this.#directory);
    this.#directory.follow({
      onChanged: () => {},
      onAlarm: (namespace, { controller, kind, message }, hasEnded) => {
        if (hasEnded) log.info({ namespace, controller, kind }, "an alarm is over");
        else log.warn({ namespace, controller, kind, message }, "alarm");
      },
    });
  }

  /** Every replica does this: a lease that came back meanwhile, or is gone already, is left alone by its revision. */
  async #clean(): Promise<void> {
    const { clock, log, stop } = this.#context;
    const asking = { principal, deadlineMs: cleaningMs };
    const removing = (this.#directory?.vacated ?? []).slice(0, mostRemovals).map(({ key, revision }) =>
      this.#store
        .delete({ lease: leaseKeyToWire(key), expectedRevision: revision.sequence }, asking)
        .catch((err: unknown) => {
          if (stop.aborted || (err instanceof Fault && goneReasons.has(err.reason))) return;
          log.warn({ err, lease: key }, "a lease is not removed");
        }),
    );
    await Promise.all(removing);
    if (!stop.aborted) this.#cleaning = clock.schedule(cleaningMs, () => void this.#clean());
  }

  #serve(): BusServer {
    const { bus, clock, log } = this.#context;
    const ready = () => this.#handlerContext();
    return serve(
      bus,
      MigrationServiceDefinition,
      {
        validate: async (request, scope) => validate(ready(), request, scope),
        apply: async (request, scope) => apply(ready(), request, scope),
        delete: async (request, scope) => remove(ready(), request, scope),
        get: async (request, scope) => get(ready(), request, scope),
        list: async (request, scope) => list(ready(), request, scope),
        status: async (request, scope) => status(ready(), request, scope),
        report: async (request, scope) => {
          const beganAtMs = clock.now();
          const answer = await report(ready(), request, scope);
          this.#metrics.noteReport(clock.now() - beganAtMs);
          return answer;
        },
        watch: (request, scope) => watch(ready(), request, scope),
      },
      { onHandlerError: (err, { method }) => log.error({ err, method }, "a call failed by a mistake of the service") },
    );
  }

  #handlerContext(): MigrationContext {
    const { clock, config } = this.#context;
    if (this.#directory === undefined || !this.#reader.isReady) throw replicaBehind("the log is being read");
    return {
      clock,
      reader: this.#reader,
      store: this.#store,
      directory: this.#directory,
      namespace: config.namespace,
      participantDurationMs: config.participantDurationMs,
      mostWatchers: config.watchers,
      watchers: this.#watchers,
    };
  }
}
