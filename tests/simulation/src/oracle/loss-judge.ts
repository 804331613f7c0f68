import { batchIdOf } from "@tenure/contracts";
import type { MemoryLog } from "@tenure/log/memory";
import type { ReplicaNode } from "../store/replica-node.ts";
import { demand, Violation } from "./violation.ts";

/** One replica's copy of a partition. */
interface Copy {
  readonly node: ReplicaNode;
  readonly partition: number;
}

/** A copy that has what the log has lost. */
interface StaleCopy extends Copy {
  /** The last that it had read by then, and which batch that was. */
  readonly sequence: bigint;
  readonly batchId: string;
  /** The last that its replica had read of any partition: it is shown what comes after that. */
  readonly position: bigint;
}

/**
 * What is left to judge after a log has lost its end: acknowledged changes are gone, so nothing else can be promised.
 * Who has read what was lost halts the partition with an alarm and answers nobody (rule 2), whether the log ends before
 * that, or others have appended beyond it and its sequences were given again.
 */
export class LossJudge {
  readonly #log: MemoryLog;
  readonly #stale: StaleCopy[] = [];
  #hasLost = false;

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  /** Whether the log has lost its end. */
  get hasLost(): boolean {
    return this.#hasLost;
  }

  /** The log has just lost its end. */
  lost(nodes: Iterable<ReplicaNode>): void {
    this.#hasLost = true;
    for (const node of nodes) {
      if (!node.process.isAlive) continue;
      const { partitions, revision } = node.replica;
      const known = partitions.map(({ state }) => state.lastSequence);
      const position = known.reduce((most, one) => (one > most ? one : most), revision);
      for (const { partition, state } of partitions) {
        const { lastBatchId: batchId, lastSequence: sequence } = state;
        if (sequence > this.#lastOf(partition)) this.#stale.push({ node, partition, sequence, batchId, position });
      }
    }
  }

  /** A halted partition decides nothing. */
  expectSilent({ node, partition }: Copy): void {
    const { haltedWhy, role } = node.replica.at(partition);
    const what = () => `${node.instance} answered in partition ${partition}, which had halted: ${haltedWhy}`;
    demand(role !== "halted", "rule 2", what);
  }

  /** Who has read what was lost, could see that, and did not halt. */
  find(): Violation | undefined {
    for (const copy of this.#stale) {
      const { node, partition, sequence } = copy;
      const { role, state } = node.replica.at(partition);
      if (!node.process.isAlive || role === "halted" || !this.#isVisible(copy)) continue;
      const why = `${node.instance} (${role}) had read partition ${partition} up to ${sequence}`;
      const now = `is at ${state.lastSequence} and the log at ${this.#lastOf(partition)}`;
      return new Violation("rule 2", `${why}, the log has lost a part of that, it ${now}, and it did not halt`);
    }
    return undefined;
  }

  /**
   * What was given the place of something that had been read is met when one more follows. Who had to load a newer
   * snapshot in the meantime has nothing left to compare.
   */
  #isVisible(copy: StaleCopy): boolean {
    const { node, partition, position, sequence } = copy;
    const last = this.#lastOf(partition);
    const canBeSeen = (last < sequence || last > position) && !node.sights.hasLoadedBeyond(partition, sequence);
    return canBeSeen && !this.#isBack(copy);
  }

  /** Whether the very batch stands there again: its writer had no answer, and tried again after the loss. */
  #isBack({ batchId, partition, sequence }: StaleCopy): boolean {
    const found = this.#log.messages(partition).find((message) => message.sequence === sequence);
    return found !== undefined && batchIdOf(found.payload) === batchId;
  }

  #lastOf(partition: number): bigint {
    return this.#log.messages(partition).at(-1)?.sequence ?? 0n;
  }
}
