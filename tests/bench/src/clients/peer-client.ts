/**
 * What every system is asked to do, through the best client that there is for it from Node.js. A lane is a place where
 * nobody else works: lanes never meet.
 */
export interface PeerClient extends AsyncDisposable {
  /** Takes a free lease and gives it back: both are in the log when it resolves. */
  pair(lane: number): Promise<void>;
  /** One of several who want the same lease and wait in line for it. */
  contender(lease: string, number: number): Promise<Contender>;
  /** A writer of small values. `isGuarded`: each write is refused unless the writer still holds its lease. */
  writer(lane: number, isGuarded: boolean): Promise<() => Promise<unknown>>;
  /** Watches one record so many times. Resolves when every watch is up; `seen` is called by each for each change. */
  watched(watchers: number, seen: () => void): Promise<Watched>;
  /** Takes so many leases and gives what renews them. */
  renewer(leases: number): Promise<Renewer>;
  /** Takes so many leases and leaves them alone; each has one key where leases and keys are two things. */
  idle(leases: number): Promise<void>;
}

/** One who waits in line. */
export interface Contender {
  /** Resolves when the contender knows that it holds the lease. */
  acquire(): Promise<void>;
  release(): Promise<unknown>;
}

/** What is watched. */
export interface Watched {
  /** Makes the next change possible, if something must be done before it. */
  prepare(): Promise<unknown>;
  /** Changes it; every watch sees that once. */
  change(): Promise<unknown>;
}

/** Keeps leases alive as fast as it can. */
export interface Renewer {
  /** Renews without a pause for so long. */
  renewFor(durationMs: number): Promise<Renewed>;
}

/** What a renewer did. */
export interface Renewed {
  readonly count: number;
  /** From the send of a renewal to its acknowledgement. */
  readonly latenciesMs: readonly number[];
}
