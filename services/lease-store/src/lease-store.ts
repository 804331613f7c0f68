import type { Bus, BusServer } from "@tenure/bus";
import type { PartitionStatus } from "@tenure/contracts";
import { defaultOwnershipTiming } from "@tenure/core";
import { ownTurn, turnSent } from "@tenure/kernel";
import {
  BatchWriter,
  Compactor,
  type HeardReplica,
  JetStreamSnapshotStore,
  JetStreamTransport,
  OwnerBeats,
  readLogSize,
} from "@tenure/log";
import { type ReadModel, Watches, WatchHub } from "@tenure/reader";
import type { ServiceContext } from "@tenure/runtime";
import { type CompactorBus, connectCompactor } from "./compactor-bus.ts";
import { type leaseStoreFields, settingsOf } from "./config.ts";
import { type HandlerContext, ownerClients } from "./handlers/handler-context.ts";
import { OwnerCalls } from "./handlers/owner-calls.ts";
import { serveAnywhere, serveOwned } from "./handlers/services.ts";
import { logCodec } from "./log-codec.ts";
import { LogCompaction } from "./log-compaction.ts";
import { StoreMetrics } from "./metrics.ts";
import type { ReplicaOptions } from "./replica/options.ts";
import { OwnerChanges } from "./replica/owner-changes.ts";
import { OwnershipDriver } from "./replica/ownership-driver.ts";
import type { Role } from "./replica/partition-listener.ts";
import type { ReplicaPorts } from "./replica/ports.ts";
import { type StoreListener, StoreReplica } from "./replica/store-replica.ts";
import { ReplicaLag } from "./replica-lag.ts";

type Context = ServiceContext<typeof leaseStoreFields>;

/** Commands of one batch: at most 20 ms of deciding on a slow core. */
const commandsPerBatch = 1_000;
/** Own batches that wait for the tail before watches start over. */
const pendingBatches = 10_000;

/** While it owns everything and nobody waits for the log, its own appends are read back in this rhythm. */
const restMs = 25;

/** A scrape of the metrics does not wait longer for the log's size. */
const logSizeTimeoutMs = 1_000;

/** Starts a replica of the lease store. Disposing of it hands its partitions over first. */
export async function startLeaseStore(context: Context): Promise<LeaseStore> {
  const store = new LeaseStore(context);
  await store.start();
  return store;
}

/** The wiring of one replica. It has no rules of its own. */
export class LeaseStore implements AsyncDisposable {
  readonly #context: Context;
  readonly #transport: JetStreamTransport;
  readonly #snapshots: JetStreamSnapshotStore;
  readonly #replica: StoreReplica;
  readonly #changes = new OwnerChanges();
  readonly #hub: WatchHub;
  readonly #watches: Watches;
  readonly #metrics: StoreMetrics;
  readonly #handlers: HandlerContext;
  readonly #owned = new Map<number, readonly BusServer[]>();
  /** The newest epoch of each partition that another replica was heard to serve. */
  readonly #served = new Map<number, bigint>();
  readonly #stopping = new Set<Promise<unknown>>();
  #unrouted: readonly BusServer[] = [];
  #driver: OwnershipDriver | undefined;
  #beats: OwnerBeats | undefined;
  #lag: ReplicaLag | undefined;
  #compactorBus: CompactorBus | undefined;
  #compaction: LogCompaction | undefined;
  #connectedSinceMs: number | undefined;
  #unfollow: () => void = () => {};

  constructor(context: Context) {
    const { bus, clock, config, incarnation, instance, metrics, random } = context;
    this.#context = context;
    this.#transport = new JetStreamTransport({ control: bus, clock, random, onInterruption: (why) => this.#note(why) });
    this.#snapshots = new JetStreamSnapshotStore({ bus, clock, random });
    this.#metrics = new StoreMetrics(metrics);
    const { partitions } = incarnation;
    const onAwaited = () => void this.#replica.hurry();
    this.#hub = new WatchHub({ clock, partitions, keptChanges: config.keptChanges, pendingBatches, onAwaited });
    const options: ReplicaOptions = {
      instance,
      incarnationId: incarnation.id,
      partitions: incarnation.partitions,
      settings: settingsOf(config),
      queuedCallsPerPartition: config.queuedCallsPerPartition,
      commandsPerBatch,
      snapshotAfterBatches: config.snapshotAfterBatches,
      snapshotAfterBytes: config.snapshotAfterBytes,
      tombstoneRetentionMs: config.tombstoneRetentionMs,
    };
    this.#replica = new StoreReplica(this.#ports(), options, this.#listener());
    const model = this.#readModel();
    this.#watches = new Watches(model, config);
    this.#metrics.show(this.#replica, this.#watches);
    this.#metrics.showLog(() => readLogSize(bus, logSizeTimeoutMs));
    this.#handlers = this.#handlerContext(model);
  }

  async start(): Promise<void> {
    const { bus, clock, health, incarnation, instance, presence } = this.#context;
    health.set("log", false, "the log is being read");
    health.set("partitions", false, "not every partition has an owner");
    this.#connectedSinceMs = bus.connected ? clock.now() : undefined;
    this.#unfollow = bus.onStatus((status) => {
      this.#connectedSinceMs = status === "connected" ? clock.now() : undefined;
      if (status !== "connected") this.#replica.noteConnectionLost();
    });
    await this.#prepareCompaction();
    await this.#replica.start();
    for (const { partition, state } of this.#replica.partitions) {
      this.#compaction?.noteLoaded(partition, state.snapshot);
    }
    this.#lag = new ReplicaLag(bus, incarnation.id);
    this.#beats = new OwnerBeats({
      bus,
      clock,
      instance,
      incarnationId: incarnation.id,
      partitions: incarnation.partitions,
      onBeat: (replica) => this.#onBeat(replica),
    });
    this.#driver = new OwnershipDriver({
      replica: this.#replica,
      instance,
      clock,
      beats: this.#beats,
      timing: defaultOwnershipTiming,
      connectedSinceMs: () => this.#connectedSinceMs,
    });
    this.#unrouted = serveAnywhere(bus, this.#handlers, this.#serving);
    presence.describe(() => ({ partitions: this.partitions }));
    await bus.flush();
  }

  /** What presence and the doctor say about partitions. */
  get partitions(): PartitionStatus[] {
    return this.#replica.partitions.map(({ partition, role, state }) => ({
      partition,
      epoch: state.epoch,
      owner: state.owner,
      appliedRevision: state.lastSequence,
      lag: this.#lag?.of(partition, later(state.lastSequence, this.#replica.revision)) ?? 0n,
      halted: role === "halted",
      snapshotRevision: state.snapshot?.sequence ?? 0n,
      leases: BigInt(state.leases.size),
    }));
  }

  /** Hands over what it owns, then stops serving, then forgets. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver?.leave();
    await Promise.all(this.#unrouted.map((server) => server.stop()));
    this.#driver?.[Symbol.dispose]();
    await this.#replica[Symbol.asyncDispose]();
    for (const partition of [...this.#owned.keys()]) this.#unserve(partition);
    await Promise.all(this.#stopping);
    this.#unfollow();
    await this.#compaction?.[Symbol.asyncDispose]();
    await this.#compactorBus?.[Symbol.asyncDispose]();
    this.#lag?.[Symbol.dispose]();
    this.#beats?.[Symbol.dispose]();
    this.#snapshots[Symbol.dispose]();
    this.#transport[Symbol.dispose]();
  }

  get #serving() {
    const { log } = this.#context;
    return { onHandlerError: (error: unknown, { method }: { method: string }) => log.error({ err: error, method }) };
  }

  get #bus(): Bus {
    return this.#context.bus;
  }

  async #prepareCompaction(): Promise<void> {
    const { clock, log, random } = this.#context;
    this.#compactorBus = await connectCompactor(this.#context);
    if (this.#compactorBus === undefined) return;
    const { bus } = this.#compactorBus;
    const compactor = new Compactor({ bus, log: this.#transport, snapshots: this.#snapshots, clock, random });
    this.#compaction = new LogCompaction(compactor, {
      onCompacted: (partition, result) => {
        this.#metrics.notePurged(result);
        log.info({ partition, ...result }, "the log was compacted");
      },
      onFault: (partition, doing, fault) => this.#noteFault(partition, doing, fault),
    });
  }

  #noteFault(partition: number, doing: string, fault: unknown): void {
    this.#metrics.noteFault(doing);
    this.#context.log.warn({ partition, doing, err: fault }, "a partition has trouble");
  }

  #ports(): ReplicaPorts {
    const { clock, config, incarnation, random } = this.#context;
    return {
      clock,
      random,
      transport: this.#transport,
      snapshots: this.#snapshots,
      codec: logCodec,
      writerOf: (partition) =>
        new BatchWriter(this.#transport, {
          partition,
          clock,
          random,
          requestTimeoutMs: config.appendTimeoutMs,
          batchIdOf: (payload) => logCodec.batchIdOf(payload) ?? "",
          prevBatchIdOf: logCodec.prevBatchIdOf,
        }),
      // With one partition there is nobody to let go first.
      ...(incarnation.partitions > 1 ? { turn: ownTurn } : {}),
      sent: turnSent,
    };
  }

  #readModel(): ReadModel {
    const { clock, incarnation } = this.#context;
    return {
      clock,
      incarnationId: incarnation.id,
      partitions: incarnation.partitions,
      hub: this.#hub,
      view: (partition, read) => this.#replica.at(partition).view(read),
    };
  }

  #handlerContext(model: ReadModel): HandlerContext {
    const { clock, random } = this.#context;
    const replica = this.#replica;
    return {
      replica,
      clock,
      clients: ownerClients(this.#bus),
      calls: new OwnerCalls({ replica, changes: this.#changes, clock, random }),
      model,
      watches: this.#watches,
    };
  }

  #listener(): StoreListener {
    return {
      onRole: (partition, role) => this.#onRole(partition, role),
      onOwner: (partition) => {
        this.#changes.notify(partition);
        this.#driver?.reconsider(partition);
        this.#updateHealth();
      },
      onApplied: (applied) => {
        this.#driver?.noteBatch(applied.partition);
        this.#hub.onApplied(applied);
        this.#compaction?.noteApplied(applied);
      },
      onCommitted: (_, committed) => this.#metrics.noteCommitted(committed),
      onReloaded: (partition) => {
        this.#compaction?.noteLoaded(partition, this.#replica.at(partition).state.snapshot);
      },
      onFault: (partition, doing, fault) => this.#noteFault(partition, doing, fault),
      onTailed: (_, sequence, isSettled) => this.#hub.onTailed(sequence, isSettled),
      restMs: () => (this.#hub.listeners > 0 || this.#hub.isAwaited ? 0 : restMs),
    };
  }

  #onRole(partition: number, role: Role): void {
    const { haltedWhy = "", state } = this.#replica.at(partition);
    const { epoch } = state;
    if (role === "loading") this.#hub.onLoading(partition);
    else if (role === "following") this.#hub.onFollowing(state);
    else if (role === "halted") this.#hub.onHalted(partition, haltedWhy);
    this.#context.log.info({ partition, role, epoch: String(epoch) }, "partition");
    const ownEpoch = this.#replica.at(partition).ownEpoch;
    if (role === "owning" && ownEpoch !== undefined) {
      // Not before the log has said so: two replicas may try for one epoch, and only the winner may answer in it.
      this.#owned.set(partition, serveOwned(this.#bus, this.#handlers, partition, ownEpoch, this.#serving));
      this.#changes.notify(partition);
      this.#driver?.announce();
    } else if (role === "following" || role === "loading" || role === "halted") this.#unserve(partition);
    this.#updateHealth();
  }

  /** A replica beats for a partition only when it serves it, so calls that wait for its owner need wait no longer. */
  #onBeat({ owned }: HeardReplica): void {
    for (const [partition, epoch] of owned) {
      if (epoch <= (this.#served.get(partition) ?? 0n)) continue;
      this.#served.set(partition, epoch);
      this.#changes.notify(partition);
    }
  }

  #unserve(partition: number): void {
    const servers = this.#owned.get(partition) ?? [];
    this.#owned.delete(partition);
    for (const server of servers) {
      const stopped = server.stop().finally(() => this.#stopping.delete(stopped));
      this.#stopping.add(stopped);
    }
  }

  #updateHealth(): void {
    const { health } = this.#context;
    const { partitions } = this.#replica;
    const behind = partitions.filter(({ role }) => role === "loading" || role === "halted");
    const list = behind.map(({ haltedWhy, partition }) => (haltedWhy === undefined ? partition : haltedWhy)).join(", ");
    health.set("log", behind.length === 0, `partitions are not followed yet: ${list}`);
    const unowned = partitions.filter(({ state }) => state.epoch === 0n).map(({ partition }) => partition);
    health.set("partitions", unowned.length === 0, `partitions without an owner: ${unowned.join(", ")}`);
  }

  #note(why: string): void {
    this.#context.log.info({ why }, "the log is followed anew");
  }
}

/** How far a partition has surely been read: its own last batch, or further if the tail has passed it. */
function later(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
