import type { RenewalGroup } from "@tenure/contracts";
import type { Clock, Timer } from "@tenure/kernel";
import { TenureError } from "../errors.ts";
import { HoldSet } from "./hold-set.ts";
import type { KeptEntry } from "./kept-entry.ts";

/** What a cohort needs of its keeper. */
export interface CohortPort {
  readonly clock: Clock;
  /** Why nothing may be sent at present; undefined if it may. */
  obstacle(): TenureError | undefined;
  /** The cohort has something for the next message. */
  onDue(): void;
}

/**
 * The holds that share an interval: renewed together, with one timer and one message whatever their number. A send that
 * is not answered within T is a miss for those it left without an answer.
 */
export class Cohort {
  readonly intervalMs: number;
  readonly requestTimeoutMs: number;
  readonly #port: CohortPort;
  readonly #partitions = new Map<number, HoldSet<KeptEntry>>();
  /** Sends that some hold may still wait for an answer of, oldest first, and when that is a miss. */
  #expected: { readonly sendNumber: number; readonly dueMs: number }[] = [];
  #check: Timer | undefined;
  #timer: Timer | undefined;
  #dueAtMs: number;
  #isDue = false;

  constructor(intervalMs: number, requestTimeoutMs: number, port: CohortPort) {
    this.intervalMs = intervalMs;
    this.requestTimeoutMs = requestTimeoutMs;
    this.#port = port;
    this.#dueAtMs = port.clock.now() + intervalMs;
    this.#arm();
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  get isEmpty(): boolean {
    return this.#partitions.size === 0;
  }

  add(entry: KeptEntry): void {
    const { partition } = entry.hold;
    let holds = this.#partitions.get(partition);
    if (holds === undefined) {
      holds = new HoldSet();
      this.#partitions.set(partition, holds);
    }
    holds.set(entry);
  }

  delete({ hold, holdId }: KeptEntry): void {
    const holds = this.#partitions.get(hold.partition);
    holds?.delete(holdId);
    if (holds?.size === 0) this.#partitions.delete(hold.partition);
  }

  /** The entries of these holds of a partition, whose ids ascend. */
  among(partition: number, holdIds: readonly number[]): readonly KeptEntry[] {
    return this.#partitions.get(partition)?.among(holdIds) ?? [];
  }

  /** Renews at the end of this turn; the interval starts anew. */
  renewNow(): void {
    this.#due();
    // The timer finds that it is too early and is set anew.
    this.#dueAtMs = this.#port.clock.now() + this.intervalMs;
  }

  /** Renews within `delayMs`, if the interval does not do so earlier anyway. */
  renewWithin(delayMs: number): void {
    const atMs = this.#port.clock.now() + delayMs;
    if (atMs >= this.#dueAtMs) return;
    this.#timer?.cancel();
    this.#dueAtMs = atMs;
    this.#arm();
  }

  /** The renewals of this send. Its answers are expected within T from now. */
  take(sendNumber: number): RenewalGroup[] {
    this.#isDue = false;
    const nowMs = this.#port.clock.now();
    const groups: RenewalGroup[] = [];
    let answeredByAll = sendNumber;
    for (const [partition, holds] of this.#partitions) {
      const renewed = holds.without((entry) => entry.isOver(nowMs));
      for (const entry of renewed.entries) if (entry.firstNumber === 0) entry.firstNumber = sendNumber;
      for (const entry of holds.entries) answeredByAll = Math.min(answeredByAll, entry.settledNumber);
      groups.push(...renewed.groups(partition, sendNumber));
    }
    if (groups.length > 0) this.#expectAnswers(sendNumber, answeredByAll, nowMs + this.requestTimeoutMs);
    return groups;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#check?.cancel();
    this.#expected = [];
  }

  #arm(): void {
    const { clock } = this.#port;
    this.#timer = clock.schedule(Math.max(0, this.#dueAtMs - clock.now()), () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.#port.clock.now();
    if (nowMs < this.#dueAtMs) {
      this.#arm();
      return;
    }
    // Instants that a busy thread has slept through are skipped, not made up for.
    this.#dueAtMs = Math.max(this.#dueAtMs + this.intervalMs, nowMs + this.intervalMs / 2);
    this.#arm();
    this.#due();
  }

  /** What cannot be sent now is a miss, not a debt: whoever removes the obstacle asks for renewals again. */
  #due(): void {
    const obstacle = this.#port.obstacle();
    if (obstacle !== undefined) {
      this.#miss(obstacle);
      return;
    }
    this.#isDue = true;
    this.#port.onDue();
  }

  #miss(error: TenureError): void {
    for (const entry of this.#all()) entry.miss(error);
  }

  /** What all holds have the answers of, up to `answeredByAll`, is not looked at again. */
  #expectAnswers(sendNumber: number, answeredByAll: number, dueMs: number): void {
    const isAnswered = (this.#expected.at(-1)?.sendNumber ?? 0) <= answeredByAll;
    this.#expected = isAnswered ? [] : this.#expected.filter((one) => one.sendNumber > answeredByAll);
    this.#expected.push({ sendNumber, dueMs });
    if (this.#check === undefined) this.#armCheck(this.requestTimeoutMs);
  }

  #armCheck(inMs: number): void {
    this.#check = this.#port.clock.schedule(inMs, () => {
      this.#check = undefined;
      const nowMs = this.#port.clock.now();
      while ((this.#expected[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs) this.#missUnanswered();
      const [next] = this.#expected;
      if (next !== undefined) this.#armCheck(next.dueMs - nowMs);
    });
  }

  #missUnanswered(): void {
    const sendNumber = this.#expected.shift()?.sendNumber ?? 0;
    const late = this.#all().filter((entry) => entry.isUnanswered(sendNumber));
    if (late.length === 0) return;
    const error = unanswered(this.requestTimeoutMs);
    for (const entry of late) entry.miss(error);
  }

  #all(): KeptEntry[] {
    return [...this.#partitions.values()].flatMap(({ entries }) => entries);
  }
}

function unanswered(requestTimeoutMs: number): TenureError {
  return new TenureError({
    code: "DEADLINE_EXCEEDED",
    reason: "DEADLINE_EXCEEDED",
    message: `a renewal was not answered within ${requestTimeoutMs} ms`,
    retryable: true,
  });
}
