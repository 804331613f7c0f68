import type { TakeoverHistory } from "./takeover-history.ts";

/** Another replica, as its newest beat tells. */
export interface ReplicaSight {
  readonly instance: string;
  /** When the beat was heard, on the viewer's clock. */
  readonly heardAtMs: number;
  /** How long it had been able to own by then: connected, and caught up with the log. */
  readonly uptimeMs: number;
  /** It is about to end. */
  readonly isLeaving: boolean;
  /** The partitions that it serves, with their epochs. */
  readonly owned: ReadonlyMap<number, bigint>;
}

/** What the log says about who owns a partition. */
export interface LoggedOwnership {
  /** 0 before the first owner. */
  readonly epoch: bigint;
  readonly owner: string;
  /** To whom the owner has handed over; empty while it goes on. */
  readonly successor: string;
  /** When the viewer last saw a batch of the partition; when it began to look, if it has seen none. */
  readonly lastBatchAtMs: number;
}

/** All that a replica knows when it decides whether a partition should change hands. */
export interface OwnershipView {
  readonly partition: number;
  /** The viewer's own instance. */
  readonly self: string;
  readonly log: LoggedOwnership;
  /** Whether the viewer owns the partition and decides on it. */
  readonly isOwner: boolean;
  /** Whether the viewer has caught up with the partition's log. */
  readonly isCaughtUp: boolean;
  /** Whether the viewer is about to end. */
  readonly isLeaving: boolean;
  /** Since when the viewer hears beats and log without interruption; undefined while it does not. */
  readonly connectedSinceMs: number | undefined;
  /** How long the viewer has been able to own; what its own beats say. */
  readonly uptimeMs: number;
  /** The others. */
  readonly replicas: readonly ReplicaSight[];
  /** The viewer's own takeovers of this partition. */
  readonly history: TakeoverHistory;
  /** When the viewer last handed any partition over; undefined if never. */
  readonly lastHandOverAtMs: number | undefined;
}
