import {
  noTakeovers,
  noteTakeover,
  type OwnershipTiming,
  ownershipDecision,
  type ReplicaSight,
  type TakeoverHistory,
} from "@tenure/core";
import type { Clock, Timer } from "@tenure/kernel";
import type { OwnBeat } from "@tenure/log";
import type { PartitionReplica } from "./partition-replica.ts";
import type { StoreReplica } from "./store-replica.ts";

/** How replicas hear each other. The real one is `OwnerBeats`. */
export interface Beats {
  send(beat: OwnBeat): void;
  readonly replicas: readonly ReplicaSight[];
}

/** What the driver stands on. */
export interface OwnershipDriverOptions {
  readonly replica: StoreReplica;
  readonly instance: string;
  readonly clock: Clock;
  readonly beats: Beats;
  readonly timing: OwnershipTiming;
  /** Since when this replica is connected without interruption; undefined while it is not. */
  connectedSinceMs(): number | undefined;
}

/**
 * Has a replica take partitions over, keep them and give them away, as core's rule says: at every beat, and at once when
 * the log names another owner. What it gets wrong the log refuses.
 */
export class OwnershipDriver implements Disposable {
  readonly #options: OwnershipDriverOptions;
  readonly #histories = new Map<number, TakeoverHistory>();
  readonly #lastBatchAtMs = new Map<number, number>();
  /** The epoch after which this replica last tried to take a partition. */
  readonly #triedEpochs = new Map<number, bigint>();
  readonly #startedAtMs: number;
  #ableSinceMs: number | undefined;
  #lastHandOverAtMs: number | undefined;
  #isLeaving = false;
  #timer: Timer | undefined;
  #recheck: { readonly atMs: number; readonly timer: Timer } | undefined;

  constructor(options: OwnershipDriverOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.#turn();
  }

  /** A batch of the partition was seen. */
  noteBatch(partition: number): void {
    this.#lastBatchAtMs.set(partition, this.#options.clock.now());
  }

  /** The log says something new about who owns a partition. */
  reconsider(partition: number): void {
    void this.#decide(this.#options.replica.at(partition));
  }

  /** Says at once what is owned: callers that route by owner learn of a change by it. */
  announce(): void {
    if (!this.#isLeaving) this.#beat();
  }

  /** Gives every partition away and resolves when that is in the log; takes nothing any more. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.#beat();
    const { partitions } = this.#options.replica;
    await Promise.all(partitions.map((partition) => this.#decide(partition)));
  }

  [Symbol.dispose](): void {
    this.#isLeaving = true;
    this.#timer?.cancel();
    this.#recheck?.timer.cancel();
  }

  #turn(): void {
    const { clock, timing } = this.#options;
    this.#noteAble();
    this.#beat();
    this.#decideAll();
    this.#timer = clock.schedule(timing.beatIntervalMs, () => this.#turn());
  }

  #decideAll(): void {
    for (const partition of this.#options.replica.partitions) void this.#decide(partition);
  }

  /** A silence that ends between two beats is acted on when it ends. */
  #decideAgainAt(atMs: number): void {
    const { clock, timing } = this.#options;
    const inMs = Math.max(1, Math.ceil(atMs - clock.now()));
    if (inMs >= timing.beatIntervalMs || (this.#recheck?.atMs ?? Number.POSITIVE_INFINITY) <= atMs) return;
    this.#recheck?.timer.cancel();
    const timer = clock.schedule(inMs, () => {
      this.#recheck = undefined;
      this.#decideAll();
    });
    this.#recheck = { atMs, timer };
  }

  /** Since when this replica has been connected and caught up, which is what its uptime counts from. */
  #noteAble(): void {
    const { clock, replica } = this.#options;
    const isAble = this.#connectedSinceMs() !== undefined && replica.partitions.every(isCaughtUp);
    this.#ableSinceMs = isAble ? (this.#ableSinceMs ?? clock.now()) : undefined;
  }

  #connectedSinceMs(): number | undefined {
    const busMs = this.#options.connectedSinceMs();
    const tailMs = this.#options.replica.liveSinceMs;
    return busMs === undefined || tailMs === undefined ? undefined : Math.max(busMs, tailMs);
  }

  #uptimeMs(): number {
    return this.#ableSinceMs === undefined ? 0 : this.#options.clock.now() - this.#ableSinceMs;
  }

  #beat(): void {
    const { beats, replica, timing } = this.#options;
    const owned = new Map<number, bigint>();
    for (const { appendingForMs, partition, role, state } of replica.partitions) {
      // A loop that hangs is not spoken for, so that another may try.
      if ((role === "owning" || role === "handingOver") && appendingForMs < timing.silenceMs) {
        owned.set(partition, state.epoch);
      }
    }
    beats.send({ owned, uptimeMs: this.#uptimeMs(), isLeaving: this.#isLeaving });
  }

  async #decide(partition: PartitionReplica): Promise<void> {
    const { beats, clock, instance, timing } = this.#options;
    const { epoch, owner, successor } = partition.state;
    const now = clock.now();
    const history = this.#histories.get(partition.partition) ?? noTakeovers;
    const lastBatchAtMs = this.#lastBatchAtMs.get(partition.partition) ?? this.#startedAtMs;
    const view = {
      partition: partition.partition,
      self: instance,
      log: { epoch, owner, successor, lastBatchAtMs },
      isOwner: partition.role === "owning",
      isCaughtUp: isCaughtUp(partition),
      isLeaving: this.#isLeaving,
      connectedSinceMs: this.#connectedSinceMs(),
      uptimeMs: this.#uptimeMs(),
      replicas: beats.replicas,
      history,
      lastHandOverAtMs: this.#lastHandOverAtMs,
    };
    const decision = ownershipDecision(view, now, timing);
    if (decision.kind === "wait") this.#decideAgainAt(decision.untilMs);
    if (decision.kind === "takeOver" && partition.role === "following") {
      // Taking what was given, or what nobody had, is no fight: it counts towards the back-off only when it is repeated.
      const isCalm = (decision.isHandedOver || epoch === 0n) && this.#triedEpochs.get(partition.partition) !== epoch;
      this.#triedEpochs.set(partition.partition, epoch);
      if (!isCalm) this.#histories.set(partition.partition, noteTakeover(history, now, timing));
      partition.takeOver(decision.isHandedOver);
    } else if (decision.kind === "handOver") {
      this.#lastHandOverAtMs = now;
      await partition.handOver(decision.to);
    }
  }
}

function isCaughtUp({ role }: PartitionReplica): boolean {
  return role !== "loading" && role !== "halted";
}
