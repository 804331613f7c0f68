import type { OpenBatch } from "@tenure/core";

/** One committed batch, told right after its answers were made. */
export interface CommittedBatch {
  readonly batch: OpenBatch;
  readonly sequence: bigint;
  readonly sizeBytes: number;
  /** From the first try of the append to its acknowledgement. */
  readonly tookMs: number;
  /** For each term that the owner ended by time: from when it was due, by the owner's clock, to the commit. */
  readonly expiryLagsMs: readonly number[];
}

/** What an owner tells the replica that it is part of. */
export interface OwnerListener {
  onCommitted(committed: CommittedBatch): void;
}
