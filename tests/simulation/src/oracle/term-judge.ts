import type { SimulatedProcess } from "../time/simulated-process.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import { demand } from "./violation.ts";

/** A term as its holder believes in it. */
export interface BelievedTerm {
  readonly lease: string;
  readonly token: bigint;
  readonly process: SimulatedProcess;
  /** On the boot clock of its process. */
  deadlineMs: number;
  /** The holder has stopped acting: it returned, stepped down, or its process is dead. */
  hasStopped: boolean;
}

/**
 * Sees all holders on the one true clock: no two act for one exclusive lease at overlapping times, counting σ after each
 * deadline (I4). A holder acts from when it learns of its term until its own deadline or its stop.
 */
export class TermJudge {
  readonly #time: VirtualTime;
  readonly #stopBoundMs: number;
  readonly #terms = new Map<string, Set<BelievedTerm>>();
  /** Terms that were begun, which shows that the world was not idle. */
  begun = 0;

  constructor(time: VirtualTime, stopBoundMs: number) {
    this.#time = time;
    this.#stopBoundMs = stopBoundMs;
  }

  /** A holder begins to act. */
  begin(term: BelievedTerm): void {
    const terms = this.#terms.get(term.lease) ?? new Set();
    this.#terms.set(term.lease, terms);
    this.#expectAlone(term);
    terms.add(term);
    this.begun += 1;
  }

  /** A holder proved a later deadline. */
  extend(term: BelievedTerm, deadlineMs: number): void {
    term.deadlineMs = Math.max(term.deadlineMs, deadlineMs);
    this.#expectAlone(term);
  }

  #expectAlone(term: BelievedTerm): void {
    const { nowMs } = this.#time;
    for (const other of this.#terms.get(term.lease) ?? []) {
      const endsAtMs = other.process.trueTimeOf(other.deadlineMs) + this.#stopBoundMs;
      if (other === term) continue;
      if (other.hasStopped || !other.process.isAlive || endsAtMs <= nowMs) {
        this.#terms.get(term.lease)?.delete(other);
        continue;
      }
      const isOver = term.hasStopped || term.process.trueTimeOf(term.deadlineMs) <= nowMs;
      demand(isOver, "I4", () => {
        const first = `${other.process.name} (token ${other.token}) may act until ${endsAtMs.toFixed(1)} ms`;
        return `${term.process.name} (token ${term.token}) acts for ${term.lease} at ${nowMs.toFixed(1)} ms, but ${first}`;
      });
    }
  }
}
