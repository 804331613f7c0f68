import type { SessionPush } from "@tenure/contracts";
import type { LeaseKey } from "@tenure/core";

/** A running term, as whoever follows the log knows it. */
export interface KnownTerm {
  readonly lease: LeaseKey;
  readonly token: bigint;
  /** Who acquired it: nobody else is told of it. */
  readonly principal: string;
}

/** Where a session hears what happened to the leases of its client. All of it is news: the records say the same. */
export interface News {
  /**
   * Tells of every push that a change of the lease is worth; the session picks those of its own client. Who learns of
   * changes only from some moment on also tells the tokens of all terms that run then: others have ended before.
   */
  follow(
    lease: LeaseKey,
    listener: (push: SessionPush) => void,
    onRunning: (tokens: ReadonlySet<bigint>) => void,
  ): () => void;
  /** The term behind a hold; undefined when it is not known, or over. */
  termOf(partition: number, holdId: number): KnownTerm | undefined;
}
