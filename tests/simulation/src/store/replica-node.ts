import type { Command, PartitionState, Reply } from "@tenure/core";
import { type Fault, type Random, seededRandom } from "@tenure/kernel";
import type {
  AppliedBatch,
  OwnershipDriver,
  PartitionWriter,
  ReplicaPorts,
  Role,
  StoreReplica,
} from "@tenure/lease-store/replica";
import type { LogTransport } from "@tenure/log";
import type { MemoryLog, MemorySnapshots, MemoryTransport } from "@tenure/log/memory";
import { type ReadModel, reachIn, type Watches, type WatchHub } from "@tenure/reader";
import type { Network } from "../network/network.ts";
import type { Outage } from "../oracle/outage-judge.ts";
import type { SimulatedProcess } from "../time/simulated-process.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import { SimulatedBeats } from "./beats.ts";
import { codec } from "./codec.ts";
import { ProcessTransport, processSnapshots } from "./process-transport.ts";
import { Sights } from "./sights.ts";
import type { StoreCode } from "./store-code.ts";
import { ownershipTiming, settings, timing } from "./timing.ts";

/** What a replica answers to a call. */
export type Answer<T> =
  | { readonly kind: "answered"; readonly value: T }
  /** `applied` is `NO` or `UNKNOWN`; `owner` is the replica's name that it thinks should be asked. */
  | { readonly kind: "failed"; readonly reason: string; readonly applied: string; readonly owner: string };

/** A reply with the position that it was committed at. */
export interface Committed {
  readonly reply: Reply;
  /** Sequence of the last batch in the state that the reply was made from. */
  readonly sequence: bigint;
}

/** Ports that stand between the replica and the world; a mutation may replace one. */
export interface PortChanges {
  readonly transport?: (inner: LogTransport, log: MemoryLog) => LogTransport;
  readonly writer?: (inner: PartitionWriter, transport: LogTransport, partition: number) => PartitionWriter;
  readonly clock?: (process: SimulatedProcess) => ReplicaPorts["clock"];
}

/** Told of what one replica applied and answered. */
export interface NodeListener {
  onApplied(node: ReplicaNode, applied: AppliedBatch): void;
  onReloaded(node: ReplicaNode, partition: number): void;
  /** A replica gave a partition up for good. */
  onHalted(node: ReplicaNode, partition: number): void;
  /** An owner lost its connection to the log, or an append took too long. */
  onOutage(outage: Outage): void;
  /** A replica does not own a partition, or not any more. */
  onOwnershipEnded(node: ReplicaNode, partition: number): void;
  onSubmitted(command: Command): void;
  onAnswered(node: ReplicaNode, partition: number, command: Command, answer: Answer<Committed>): void;
}

/** What all replicas of a world share. */
export interface NodeWorld {
  readonly code: StoreCode;
  readonly ports: PortChanges;
  readonly time: VirtualTime;
  readonly network: Network;
  readonly log: MemoryLog;
  readonly snapshots: MemorySnapshots;
  readonly listener: NodeListener;
  readonly partitions: number;
  readonly names: readonly string[];
  readonly snapshotAfterBatches: number;
  nodeOf(name: string): ReplicaNode | undefined;
}

/** The incarnation of every simulated deployment. */
export const incarnationId = "incarnation";
/** Little is kept, so that watchers are cut off and tokens get too old within a run. */
export const watchLimits = { keptChanges: 40, pendingBatches: 10, watchers: 100, queuedPerWatcher: 12 } as const;

/** How long a prompt append takes at most, and the shortest time before its acknowledgement. */
const slowAppendMs = 1_000;
const instantMs = 0.001;

/** One life of one lease-store replica: the production code on simulated ports. */
export class ReplicaNode {
  readonly name: string;
  /** Unique for each life. */
  readonly instance: string;
  readonly process: SimulatedProcess;
  readonly replica: StoreReplica;
  readonly sights = new Sights();
  readonly #world: NodeWorld;
  readonly #transport: MemoryTransport;
  /** What it hears of the others. */
  readonly beats: SimulatedBeats;
  readonly #driver: OwnershipDriver;
  readonly #hub: WatchHub;
  readonly #model: ReadModel;
  /** The epochs whose last append was slow, by partition. */
  readonly #slowEpochs = new Map<number, bigint>();
  readonly watches: Watches;

  constructor(world: NodeWorld, process: SimulatedProcess, life: number, seed: number) {
    this.#world = world;
    this.name = process.name;
    this.instance = `${process.name}.${life}`;
    this.process = process;
    this.#transport = world.log.connect(process.name);
    const random = seededRandom(seed);
    const { keptChanges, pendingBatches } = watchLimits;
    const { partitions } = world;
    this.#hub = new world.code.WatchHub({ clock: process, partitions, keptChanges, pendingBatches });
    this.replica = new world.code.StoreReplica(this.#portsOf(random), this.#options(), {
      onRole: (partition, role) => this.#onRole(partition, role),
      onOwner: (partition) => this.#driver.reconsider(partition),
      onApplied: (applied) => {
        const { partition, sequence, state } = applied;
        this.sights.noteApplied(partition, sequence, state.lastBatchId, process.now());
        this.#driver.noteBatch(partition);
        this.#hub.onApplied(applied);
        world.listener.onApplied(this, applied);
      },
      onCommitted: () => {},
      onReloaded: (partition) => world.listener.onReloaded(this, partition),
      onFault: () => {},
      onTailed: (_, sequence, isSettled) => this.#hub.onTailed(sequence, isSettled),
    });
    const view = <Answer>(partition: number, read: (state: PartitionState) => Answer) =>
      this.replica.at(partition).view(read);
    this.#model = { clock: process, incarnationId, partitions, hub: this.#hub, view };
    this.watches = new world.code.Watches(this.#model, watchLimits);
    world.network.join(process);
    const { instance, replica } = this;
    const bornAtMs = process.now();
    const others = world.names.filter((name) => name !== this.name);
    const hear = (name: string, sight: Parameters<SimulatedBeats["hear"]>[0]) => world.nodeOf(name)?.beats.hear(sight);
    this.beats = new SimulatedBeats(instance, process, world.network, others, hear);
    const timing = ownershipTiming;
    const options = { replica, instance, clock: process, beats: this.beats, timing, connectedSinceMs: () => bornAtMs };
    this.#driver = new world.code.OwnershipDriver(options);
    void this.replica.start();
  }

  /** Decides a command as the partition's owner; refused if it is not. */
  async command(partition: number, command: Command, signal?: AbortSignal): Promise<Answer<Committed>> {
    const { CommandCall } = this.#world.code;
    const { listener } = this.#world;
    listener.onSubmitted(command);
    const call = new CommandCall(command, (reply, { state }) => ({
      reply: structuredClone(reply),
      sequence: state.lastSequence,
    }));
    const answer = await this.#answer(partition, this.replica.at(partition).submit(call, signal).promise);
    listener.onAnswered(this, partition, command, answer);
    return answer;
  }

  /** Reads linearizably. */
  read<T>(partition: number, look: (state: PartitionState) => T): Promise<Answer<T>> {
    const { ReadCall } = this.#world.code;
    return this.#answer(partition, this.replica.at(partition).submit(new ReadCall(({ state }) => look(state))).promise);
  }

  /** Reads what this replica has, once it has come as far as `revision`. */
  readPlain<T>(partition: number, revision: bigint, look: (state: PartitionState) => T): Promise<Answer<T>> {
    const reading = async () => {
      await reachIn(this.#model, partition, revision, timing.requestTimeoutMs);
      return this.replica.at(partition).view(look);
    };
    return this.#answer(partition, reading());
  }

  /** Notes the beat of a wait; false if it is not known here. */
  beat(partition: number, waiterId: string, beatNumber: bigint): boolean {
    return this.replica.at(partition).beat(waiterId, beatNumber);
  }

  /** Loses the connection to the log for so long. */
  cutLog(forMs: number): void {
    this.#transport.cut();
    this.process.deliver(() => this.#noteConnectionLost());
    this.#world.time.after(forMs, () => {
      if (this.process.isAlive) this.#transport.heal();
    });
  }

  /** As the lease store wires its hub. */
  #onRole(partition: number, role: Role): void {
    const { haltedWhy = "", ownEpoch, state } = this.replica.at(partition);
    if (ownEpoch === undefined) this.#world.listener.onOwnershipEnded(this, partition);
    if (role === "loading") this.#hub.onLoading(partition);
    else if (role === "following") this.#hub.onFollowing(state);
    else if (role === "halted") {
      this.#hub.onHalted(partition, haltedWhy);
      this.#world.listener.onHalted(this, partition);
    }
  }

  /** An append that took over a second is an outage too; the next ones that do are the same outage (rule 17). */
  #noteAcked(partition: number, payload: Uint8Array, tookMs: number): void {
    if (tookMs <= slowAppendMs) {
      this.#slowEpochs.delete(partition);
      return;
    }
    const { epoch } = codec.decodeBatch(0n, payload);
    const sinceMs = this.process.now() - instantMs;
    const isNew = this.#slowEpochs.get(partition) !== epoch;
    this.#slowEpochs.set(partition, epoch);
    if (isNew) this.#world.listener.onOutage({ instance: this.instance, partition, epoch, sinceMs });
  }

  #noteConnectionLost(): void {
    for (const { ownEpoch: epoch, partition } of this.replica.partitions) {
      const sinceMs = this.process.now();
      if (epoch !== undefined) this.#world.listener.onOutage({ instance: this.instance, partition, epoch, sinceMs });
    }
    this.replica.noteConnectionLost();
  }

  /** Ends at once, as kill -9 does. What it has sent may still arrive. */
  kill(): void {
    this.process.kill();
    this.#transport[Symbol.dispose]();
  }

  async #answer<T>(partition: number, promise: Promise<T>): Promise<Answer<T>> {
    try {
      return { kind: "answered", value: await promise };
    } catch (thrown) {
      if (!isFault(thrown)) throw thrown;
      const owner = this.replica.at(partition).state.owner.split(".")[0] ?? "";
      return { kind: "failed", reason: thrown.reason, applied: thrown.details.applied ?? "UNKNOWN", owner };
    }
  }

  #portsOf(random: Random): ReplicaPorts {
    const { log, ports, snapshots, time } = this.#world;
    const { process, sights } = this;
    const plain = new ProcessTransport(this.#transport, process, time, sights, (...acked) => this.#noteAcked(...acked));
    const transport = ports.transport?.(plain, log) ?? plain;
    const clock = ports.clock?.(process) ?? process;
    const { requestTimeoutMs } = timing;
    const batchIdOf = (payload: Uint8Array) => codec.batchIdOf(payload) ?? "";
    return {
      clock,
      random,
      transport,
      snapshots: processSnapshots(snapshots, process, time, () => 5 + random.next() * 20, sights),
      codec,
      writerOf: (partition) => {
        const ids = { batchIdOf, prevBatchIdOf: codec.prevBatchIdOf };
        const writer = new this.#world.code.BatchWriter(transport, {
          partition,
          clock: process,
          random,
          requestTimeoutMs,
          ...ids,
        });
        const inner = ports.writer?.(writer, transport, partition) ?? writer;
        return {
          commit: (payload, ...rest) => {
            // It was decided now, though it may be sent later: who is in doubt looks first.
            sights.noteSent(batchIdOf(payload), process.now());
            return inner.commit(payload, ...rest);
          },
        };
      },
    };
  }

  #options() {
    const { partitions, snapshotAfterBatches } = this.#world;
    return {
      instance: this.instance,
      incarnationId,
      partitions,
      settings,
      queuedCallsPerPartition: 1_000,
      commandsPerBatch: 100,
      snapshotAfterBatches,
      snapshotAfterBytes: 1_000_000_000,
      tombstoneRetentionMs: 300,
    };
  }
}

/** By its shape, because a mutated copy of the code may bring its own class. */
function isFault(thrown: unknown): thrown is Fault {
  return thrown instanceof Error && "reason" in thrown && "details" in thrown;
}
