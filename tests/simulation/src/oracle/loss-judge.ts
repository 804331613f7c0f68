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
  readonly sequence: bigint;
  /** Others have appended since, so that the log does not end below what the copy has read. */
  isOvertaken: boolean;
}

/**
 * What is left to judge after a log has lost its end: acknowledged changes are gone, so nothing else can be promised.
 * Who has read what was lost, and finds the log to end before that, halts the partition with an alarm and answers nobody
 * (rule 2). Sequences are given again after a loss: a copy that the log overtakes before it has looked may not see it.
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
      for (const { partition, state } of node.replica.partitions) {
        const { lastSequence: sequence } = state;
        if (sequence > this.#lastOf(partition)) this.#stale.push({ node, partition, sequence, isOvertaken: false });
      }
    }
  }

  /** The log has more, for better or worse. */
  noteAppended(): void {
    for (const copy of this.#stale) copy.isOvertaken ||= this.#lastOf(copy.partition) >= copy.sequence;
  }

  /** A halted partition decides nothing. */
  expectSilent({ node, partition }: Copy): void {
    const { haltedWhy, role } = node.replica.at(partition);
    const what = () => `${node.instance} answered in partition ${partition}, which had halted: ${haltedWhy}`;
    demand(role !== "halted", "rule 2", what);
  }

  /** Who has read what was lost, could see that, and did not halt. */
  find(): Violation | undefined {
    for (const { isOvertaken, node, partition } of this.#stale) {
      if (!node.process.isAlive || isOvertaken) continue;
      const { role, state } = node.replica.at(partition);
      if (role === "halted") continue;
      const why = `${node.instance} (${role}) has read partition ${partition} up to ${state.lastSequence}`;
      return new Violation("rule 2", `${why}, the log has lost a part of that, and it did not halt`);
    }
    return undefined;
  }

  #lastOf(partition: number): bigint {
    return this.#log.messages(partition).at(-1)?.sequence ?? 0n;
  }
}
