import type { SnapshotReference } from "@tenure/core";
import type { Compaction, CompactionResult } from "@tenure/log";
import type { AppliedBatch } from "./replica/partition-listener.ts";

/** What a compaction tells whoever logs and counts. */
export interface CompactionListener {
  onCompacted(partition: number, result: CompactionResult): void;
  onFault(partition: number, doing: string, fault: unknown): void;
}

/** What is known of a partition's snapshots. */
interface Known {
  /** The newest that the log announces. */
  latest: SnapshotReference | undefined;
  /** Names of those before the one before it, oldest first, which have not surely been removed. */
  outdated: readonly string[];
  isBusy: boolean;
}

/** Outdated names that are remembered; more pile up only while purges keep failing, and each is a few hundred bytes. */
const mostOutdated = 64;

/**
 * Has the log purged whenever this replica has announced a snapshot of a partition that it owns: everything strictly
 * below the snapshot before it, which readers may be loading right now. Every replica notes the announcements of all,
 * so that whoever owns the partition next goes on. A purge that fails is made good by the one after the next snapshot.
 */
export class LogCompaction implements AsyncDisposable {
  readonly #compaction: Compaction;
  readonly #listener: CompactionListener;
  readonly #known = new Map<number, Known>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(compaction: Compaction, listener: CompactionListener) {
    this.#compaction = compaction;
    this.#listener = listener;
  }

  /** A partition was loaded, and this is the snapshot that its state names. */
  noteLoaded(partition: number, latest: SnapshotReference | undefined): void {
    this.#at(partition).latest = latest;
  }

  /** A batch was applied, whoever wrote it. */
  noteApplied({ events, isOwn, partition }: Pick<AppliedBatch, "events" | "isOwn" | "partition">): void {
    for (const event of events) {
      if (event.kind === "snapshotAnnounced") this.#noteAnnounced(partition, event.snapshot, isOwn);
    }
  }

  /** Gives up what is under way: a purge that was asked for may still happen, and does no harm. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** There is one for each partition, also across a load: a purge that is under way notes its end in it. */
  #at(partition: number): Known {
    const known = this.#known.get(partition) ?? { latest: undefined, outdated: [], isBusy: false };
    this.#known.set(partition, known);
    return known;
  }

  #noteAnnounced(partition: number, latest: SnapshotReference, isOwn: boolean): void {
    const known = this.#at(partition);
    const previous = known.latest;
    if (previous !== undefined && previous.sequence >= latest.sequence) return;
    known.latest = latest;
    if (previous === undefined) return;
    const { outdated } = known;
    known.outdated = [...outdated, previous.name].slice(-mostOutdated);
    if (!isOwn || known.isBusy || this.#stop.signal.aborted) return;
    const running = this.#compact(known, { partition, latest, previous, outdated });
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  async #compact(known: Known, plan: Parameters<Compaction["compact"]>[0]): Promise<void> {
    known.isBusy = true;
    try {
      const result = await this.#compaction.compact(plan, this.#stop.signal);
      known.outdated = known.outdated.filter((name) => !plan.outdated.includes(name));
      this.#listener.onCompacted(plan.partition, result);
    } catch (thrown) {
      if (!this.#stop.signal.aborted) this.#listener.onFault(plan.partition, "compact the log", thrown);
    } finally {
      known.isBusy = false;
    }
  }
}
