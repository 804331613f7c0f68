import { type LeaseName, showLease } from "../term/lease-name.ts";
import type { Term } from "../term/term.ts";

/** A term that can be asked to finish, and whose end can be waited for. */
export interface RunningTerm extends Term {
  /** Ms since the send of the newest proven renewal. */
  readonly provenAgeMs: number;
  /** L of the term. */
  readonly leaseDurationMs: number;
  /** Asks the function to finish because the client or its caller stops. */
  stop(cause: unknown): void;
  /** Resolves when the function has returned and the release was answered or given up. */
  readonly finished: Promise<void>;
}

/** The terms of one client, for its health, its metrics and its close. */
export class RunningTerms {
  readonly #terms = new Set<RunningTerm>();

  /** Every term whose function has not returned. */
  get all(): readonly RunningTerm[] {
    return [...this.#terms];
  }

  add(term: RunningTerm): void {
    this.#terms.add(term);
  }

  remove(term: RunningTerm): void {
    this.#terms.delete(term);
  }

  /** The newest term of a lease, if one runs. */
  of(lease: LeaseName): RunningTerm | undefined {
    const name = showLease(lease);
    return this.all.findLast((term) => showLease(term.lease) === name);
  }

  /** Asks all of them to finish and waits until they have. */
  async stop(cause: unknown): Promise<void> {
    const running = this.all;
    for (const term of running) term.stop(cause);
    await Promise.all(running.map(({ finished }) => finished));
  }
}
