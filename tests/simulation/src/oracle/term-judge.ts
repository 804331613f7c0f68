import type { HoldMode } from "@tenure/core";
import type { SimulatedProcess } from "../time/simulated-process.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import { demand } from "./violation.ts";

/** How a term holds its lease. */
export interface TermMode {
  readonly kind: HoldMode;
  /** Units of a counted hold; 1 otherwise. */
  readonly units: number;
}

/** A term as its holder believes in it. */
export interface BelievedTerm {
  readonly lease: string;
  readonly token: bigint;
  readonly mode: TermMode;
  readonly process: SimulatedProcess;
  /** On the boot clock of its process. */
  deadlineMs: number;
  /** The holder has stopped acting: it returned, stepped down, or its process is dead. */
  hasStopped: boolean;
  /** The holder was told that it should finish, and will. */
  isAskedToEnd: boolean;
}

/**
 * Sees all holders on the one true clock, counting σ after each deadline: no two act for one lease at overlapping times
 * unless both share it, and those of a counted lease never use more than it has (I4). A holder acts from when it learns
 * of its term until its own deadline or its stop.
 */
export class TermJudge {
  readonly #time: VirtualTime;
  readonly #stopBoundMs: number;
  readonly #capacityOf: (lease: string) => number;
  readonly #terms = new Map<string, Set<BelievedTerm>>();
  /** Terms that were begun, which shows that the world was not idle. */
  begun = 0;

  constructor(time: VirtualTime, stopBoundMs: number, capacityOf: (lease: string) => number) {
    this.#time = time;
    this.#stopBoundMs = stopBoundMs;
    this.#capacityOf = capacityOf;
  }

  /** A holder begins to act. */
  begin(term: BelievedTerm): void {
    const terms = this.#terms.get(term.lease) ?? new Set();
    this.#terms.set(term.lease, terms);
    this.#expectRoom(term);
    terms.add(term);
    this.begun += 1;
  }

  /** A holder proved a later deadline. */
  extend(term: BelievedTerm, deadlineMs: number): void {
    term.deadlineMs = Math.max(term.deadlineMs, deadlineMs);
    this.#expectRoom(term);
  }

  #expectRoom(term: BelievedTerm): void {
    const { nowMs } = this.#time;
    const acting = this.#othersOf(term);
    if (term.hasStopped || term.process.trueTimeOf(term.deadlineMs) <= nowMs) return;
    for (const other of acting) {
      demand(mayMeet(term, other), "I4", () => {
        const untilMs = this.#endsAtMs(other).toFixed(1);
        const first = `${other.process.name} (token ${other.token}) may act until ${untilMs} ms`;
        return `${term.process.name} (token ${term.token}) acts for ${term.lease} at ${nowMs.toFixed(1)} ms, but ${first}`;
      });
    }
    if (term.mode.kind !== "counted") return;
    const units = acting.reduce((sum, { mode }) => sum + mode.units, term.mode.units);
    const capacity = this.#capacityOf(term.lease);
    demand(units <= capacity, "I4", () => {
      return `${term.process.name} takes ${term.lease} to ${units} units of ${capacity} at ${nowMs.toFixed(1)} ms`;
    });
  }

  /** Who else may be acting for the lease now; those that cannot any more are forgotten. */
  #othersOf(term: BelievedTerm): readonly BelievedTerm[] {
    const terms = this.#terms.get(term.lease) ?? new Set();
    for (const other of terms) {
      const isGone = other.hasStopped || !other.process.isAlive || this.#endsAtMs(other) <= this.#time.nowMs;
      if (isGone && other !== term) terms.delete(other);
    }
    return [...terms].filter((other) => other !== term);
  }

  #endsAtMs({ deadlineMs, process }: BelievedTerm): number {
    return process.trueTimeOf(deadlineMs) + this.#stopBoundMs;
  }
}

/** Whether two terms may be acted under at the same time. */
function mayMeet(one: BelievedTerm, other: BelievedTerm): boolean {
  return one.mode.kind === other.mode.kind && one.mode.kind !== "exclusive";
}
