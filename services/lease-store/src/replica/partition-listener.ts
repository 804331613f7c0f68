import type { Event, PartitionState } from "@tenure/core";
import type { CommittedBatch } from "./owner-listener.ts";

/** What a replica does about a partition at present. */
export type Role = "loading" | "following" | "takingOver" | "owning" | "handingOver" | "halted";

/** A batch that this replica has applied: it was seen in the log, or committed by this replica itself. */
export interface AppliedBatch {
  readonly partition: number;
  readonly sequence: bigint;
  readonly events: readonly Event[];
  /** The state right after the batch. */
  readonly state: PartitionState;
  /** Whether this replica wrote it, so that its tail will still bring it. */
  readonly isOwn: boolean;
}

/** Told of what happens to a partition. Everything is told synchronously; a listener does not throw. */
export interface PartitionListener {
  onRole(partition: number, role: Role): void;
  /** The owner or epoch changed, or was handed over. */
  onOwner(partition: number): void;
  onApplied(applied: AppliedBatch): void;
  onCommitted(partition: number, committed: CommittedBatch): void;
  /** The state was loaded anew: what was between is not known batch by batch. */
  onReloaded(partition: number): void;
  /** Something failed that the partition lives with. */
  onFault(partition: number, doing: string, fault: unknown): void;
}

/** How a partition is followed from a sequence on. */
export type Resume = (partition: number, sequence: bigint) => void;
