import type { DurationInput } from "../timing/duration-input.ts";

/** What every call takes. */
export interface RequestOptions {
  /** Aborting it rejects the call at once; a change that was sent may happen all the same. */
  readonly signal?: AbortSignal | undefined;
  /** How long to try, retries and reconnects included; the client's `callTimeout` unless given. */
  readonly timeout?: DurationInput | undefined;
}

/** One guarded value. */
export interface GuardedEntry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The value read as UTF-8. */
  readonly text: string;
  /** Log position of its last write; for compare-and-set. */
  readonly revision: bigint;
  /** Token of the term that wrote it. */
  readonly token: bigint;
  /** Who wrote it. */
  readonly holder: string;
}

/** How fresh a read is, and whatever every call takes. */
export interface GuardReadOptions extends RequestOptions {
  /** `linearizable` (default) sees every write that was acknowledged before the read began; `plain` may be older. */
  readonly consistency?: "linearizable" | "plain" | undefined;
}

/** Reads of guarded data. They need no hold. */
export interface GuardReader {
  /** The value of a key; undefined if there is none. */
  get(key: string, options?: GuardReadOptions): Promise<GuardedEntry | undefined>;
  /** The values in order of key, those with a prefix if one is given. Reads page by page. */
  list(options?: GuardReadOptions & { readonly prefix?: string | undefined }): AsyncIterable<GuardedEntry>;
}

/** What a write compares. */
export interface GuardWriteOptions extends RequestOptions {
  /** The key's revision that the caller saw; 0n: the key must not exist. Otherwise ABORTED, and nothing changes. */
  readonly expectedRevision?: bigint | undefined;
}

/** What must hold for a transaction to happen. */
export type GuardCondition =
  | { readonly key: string; readonly revisionIs: bigint }
  | { readonly key: string; readonly valueIs: Uint8Array | string };

/** Several writes of one lease, all or none. */
export interface GuardTransaction {
  readonly if?: readonly GuardCondition[] | undefined;
  readonly put?: Readonly<Record<string, Uint8Array | string>> | undefined;
  readonly delete?: readonly string[] | undefined;
}

/**
 * Guarded data under one term. Every write is checked against the term's deadline here and against its token in the
 * store, in the order of the grants: no write of an older term is accepted after a newer one was granted.
 */
export interface Guard extends GuardReader {
  /** Writes a value; gives its revision. */
  put(key: string, value: Uint8Array | string, options?: GuardWriteOptions): Promise<bigint>;
  /** Deletes a value; says whether it existed. */
  delete(key: string, options?: GuardWriteOptions): Promise<boolean>;
  /** Writes and deletes, if every condition holds; otherwise ABORTED with COMPARISON_FAILED. Gives the revision. */
  transaction(transaction: GuardTransaction, options?: RequestOptions): Promise<bigint>;
}
