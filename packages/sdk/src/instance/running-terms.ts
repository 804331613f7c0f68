import { type Clock, type Dated, Deadlines } from "@tenure/kernel";
import { type LeaseName, showLease } from "../term/lease-name.ts";
import type { Term } from "../term/term.ts";

/** A term that can be asked to finish, and whose end can be waited for. */
export interface RunningTerm extends Term, Dated {
  /** Ms since the send of the newest proven renewal. */
  readonly provenAgeMs: number;
  /** L of the term. */
  readonly leaseDurationMs: number;
  /** Asks the function to finish because the client or its caller stops. */
  stop(cause: unknown): void;
  /** Resolves when the function has returned and the release was answered or given up. */
  readonly finished: Promise<void>;
}

/** The terms of one client, for its health, its metrics and its close; one timer for what time changes in any of them. */
export class RunningTerms {
  readonly #terms: Deadlines<RunningTerm>;

  constructor(clock: Clock) {
    this.#terms = new Deadlines(clock);
  }

  /** Every term whose function has not returned, in no order. */
  get all(): readonly RunningTerm[] {
    return this.#terms.all;
  }

  /** Takes a term in, or takes note that its instant is earlier than before. */
  add(term: RunningTerm): void {
    this.#terms.add(term);
  }

  remove(term: RunningTerm): void {
    this.#terms.delete(term);
  }

  /** The newest term of a lease, if one runs. */
  of(lease: LeaseName): RunningTerm | undefined {
    const name = showLease(lease);
    const terms = this.all.filter((term) => showLease(term.lease) === name);
    return terms.reduce<RunningTerm | undefined>(
      (newest, term) => (term.token > (newest?.token ?? 0n) ? term : newest),
      undefined,
    );
  }

  /** Asks all of them to finish and waits until they have. */
  async stop(cause: unknown): Promise<void> {
    const running = this.all;
    for (const term of running) term.stop(cause);
    await Promise.all(running.map(({ finished }) => finished));
    if (this.#terms.size === 0) this.#terms.stop();
  }
}
