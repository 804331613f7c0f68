import { type Bus, logSubject } from "@tenure/bus";
import { Backoff, type Clock, Fault, type Random, systemClock, systemRandom } from "@tenure/kernel";
import { askOnce, type JetStreamAnswer, refusedBy } from "./jetstream-question.ts";
import type { LogTransport } from "./log-transport.ts";
import type { JetStreamSnapshotStore } from "./snapshot/jetstream-snapshot-store.ts";
import { chunkWildcard, descriptionSubject } from "./snapshot/object-layout.ts";
import type { SnapshotObject } from "./snapshot/snapshot-store.ts";
import { streamNames } from "./streams.ts";

/** What may go: everything of a partition strictly below its previous snapshot. */
export interface CompactionPlan {
  readonly partition: number;
  /** The newest snapshot that the log announces. */
  readonly latest: SnapshotObject & { readonly sequence: bigint };
  /** The one before it, which readers may be loading right now. */
  readonly previous: SnapshotObject & { readonly sequence: bigint };
  /** Names of snapshots before that one, whose descriptions may go. */
  readonly outdated: readonly string[];
}

/** How much went. */
export interface CompactionResult {
  /** Messages of the partition's log. */
  readonly logMessages: number;
  /** Chunks and descriptions of snapshots. */
  readonly snapshotMessages: number;
}

/** Removes what snapshots have made superfluous. */
export interface Compaction {
  compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult>;
}

/** What a compactor stands on. */
export interface CompactorOptions {
  /** A connection of the `compactor` user, which may do nothing but purge. */
  readonly bus: Bus;
  /** Shows that what must stay is there. */
  readonly log: Pick<LogTransport, "readAfter">;
  readonly snapshots: Pick<JetStreamSnapshotStore, "locate">;
  readonly clock?: Clock;
  readonly random?: Random;
  /** How long to go on asking while nobody answers. Default 15 s. */
  readonly boundMs?: number;
}

const purgeTimeoutMs = 5000;

interface PurgeAnswer extends JetStreamAnswer {
  readonly purged?: number;
}

/**
 * Purges a partition's log by subject, strictly below its previous snapshot, and the snapshots before that one. It first
 * reads the batch at which the previous snapshot was taken: that one stays, so a subject never loses its last message,
 * which carries the expected sequence of the next append. A purge that comes late or twice does no harm.
 */
export class Compactor implements Compaction {
  readonly #options: CompactorOptions;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  async compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult> {
    checkPlan(plan);
    const { partition, previous, outdated } = plan;
    const anchor = await this.#options.log.readAfter(partition, previous.sequence - 1n);
    if (anchor?.sequence !== previous.sequence) throw unanchored(plan, anchor?.sequence);
    const firstChunk = await this.#options.snapshots.locate(previous.name, signal);
    // The snapshot that readers fall back to is complete: only now may the log below it go.
    const logMessages = await this.#purge(
      streamNames.log,
      { filter: logSubject(partition), seq: Number(previous.sequence) },
      signal,
    );
    let snapshotMessages = 0;
    if (firstChunk !== undefined) {
      const filter = chunkWildcard(partition);
      snapshotMessages += await this.#purge(streamNames.snapshots, { filter, seq: Number(firstChunk) }, signal);
    }
    for (const name of outdated) {
      snapshotMessages += await this.#purge(streamNames.snapshots, { filter: descriptionSubject(name) }, signal);
    }
    return { logMessages, snapshotMessages };
  }

  async #purge(
    stream: string,
    request: { readonly filter: string; readonly seq?: number },
    signal?: AbortSignal,
  ): Promise<number> {
    const { bus, boundMs = 15_000, clock = systemClock, random = systemRandom } = this.#options;
    const doing = `purge ${request.filter}`;
    const waits = new Backoff({ firstMs: 50, limitMs: 1000 }, random);
    const startedAtMs = clock.now();
    for (;;) {
      signal?.throwIfAborted();
      try {
        const question = { doing, timeoutMs: purgeTimeoutMs };
        const answer = await askOnce<PurgeAnswer>(bus, `$JS.API.STREAM.PURGE.${stream}`, request, question);
        if (answer.error !== undefined) throw refusedBy(doing, answer.error);
        return answer.purged ?? 0;
      } catch (thrown) {
        const waitMs = waits.next();
        const isPassing = thrown instanceof Fault && thrown.code === "UNAVAILABLE";
        if (!isPassing || clock.now() - startedAtMs + waitMs > boundMs) throw thrown;
        await clock.sleep(waitMs, signal);
      }
    }
  }
}

/** Throws FAILED_PRECONDITION for a plan that would purge what readers need. */
export function checkPlan({ latest, outdated, partition, previous }: CompactionPlan): void {
  const why =
    previous.sequence >= latest.sequence
      ? `the previous snapshot (${previous.sequence}) is not below the latest (${latest.sequence})`
      : outdated.includes(latest.name) || outdated.includes(previous.name)
        ? "a snapshot that is needed is named as outdated"
        : undefined;
  if (why === undefined) return;
  throw new Fault({
    code: "FAILED_PRECONDITION",
    reason: "COMPACTION_UNSAFE",
    message: `partition ${partition} is not purged: ${why}`,
  });
}

function unanchored({ partition, previous }: CompactionPlan, found: bigint | undefined): Fault {
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "COMPACTION_UNSAFE",
    message: `partition ${partition} is not purged: the batch ${previous.sequence} of its previous snapshot was not to be seen (found ${found ?? "nothing"})`,
  });
}
