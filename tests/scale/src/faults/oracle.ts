/** One term as its holder lived it, on the one clock that all contenders share. */
export interface LivedTerm {
  readonly holder: string;
  readonly token: bigint;
  /** Just after its first check that passed. */
  readonly beganAtMs: number;
  /** Just before its last check that passed. */
  lastActAtMs: number;
}

interface AcceptedWrite {
  readonly token: bigint;
  readonly revision: bigint;
}

/** Sees what every contender did, and says afterwards whether two ever led at once. */
export class Oracle {
  readonly terms: LivedTerm[] = [];
  readonly #writes: AcceptedWrite[] = [];
  readonly #refused: string[] = [];

  /** A contender may act from now on. */
  began(holder: string, token: bigint, atMs: number): LivedTerm {
    const term = { holder, token, beganAtMs: atMs, lastActAtMs: atMs };
    this.terms.push(term);
    return term;
  }

  /** The store has taken a guarded write. */
  wrote(token: bigint, revision: bigint): void {
    this.#writes.push({ token, revision });
  }

  /** The store has refused the guarded write of a term that was over. */
  refused(reason: string): void {
    this.#refused.push(reason);
  }

  /** The highest token that anyone led with. */
  get lastToken(): bigint {
    return this.terms.reduce((highest, { token }) => (token > highest ? token : highest), 0n);
  }

  /** How many guarded writes were taken, and how many of terms that were over were refused. */
  get counts() {
    return { terms: this.terms.length, writes: this.#writes.length, refused: this.#refused.length };
  }

  /** Every break of the promise, in words. */
  violations(): readonly string[] {
    return [...this.#overlaps(), ...this.#lateWrites()];
  }

  *#overlaps(): Iterable<string> {
    const inOrder = this.terms.toSorted((left, right) => Number(left.token - right.token));
    for (const [at, term] of inOrder.entries()) {
      const next = inOrder[at + 1];
      if (next === undefined) return;
      if (next.token === term.token) yield `${term.holder} and ${next.holder} both led with token ${term.token}`;
      if (next.beganAtMs > term.lastActAtMs) continue;
      const lateMs = term.lastActAtMs - next.beganAtMs;
      yield `${term.holder} (token ${term.token}) acted ${lateMs} ms after ${next.holder} (token ${next.token}) began`;
    }
  }

  *#lateWrites(): Iterable<string> {
    let newest = 0n;
    for (const { revision, token } of this.#writes.toSorted((left, right) => Number(left.revision - right.revision))) {
      if (token < newest) yield `a write of token ${token} was taken at ${revision}, after one of token ${newest}`;
      if (token > newest) newest = token;
    }
  }
}
