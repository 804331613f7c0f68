import type { Settings } from "@tenure/core";

/** How a replica behaves. */
export interface ReplicaOptions {
  /** Names this replica in the log: its owner records and its batches. */
  readonly instance: string;
  readonly incarnationId: string;
  readonly partitions: number;
  /** What an owner decides by; written to the log when it differs from what the partition has. */
  readonly settings: Settings;
  /** Calls that wait for their batch, per partition; further ones are refused. */
  readonly queuedCallsPerPartition: number;
  /** Commands that one batch takes at most. */
  readonly commandsPerBatch: number;
  /** A snapshot is made after so many batches, or a megabyte of them, once they take as long to read as the last one. */
  readonly snapshotAfterBatches: number;
  /** Or after so many bytes of batches, however large the last one is. */
  readonly snapshotAfterBytes: number;
  /** How long the name of a deleted lease keeps its history. Its last token stays as long as it matters. */
  readonly tombstoneRetentionMs: number;
}

/**
 * A batch takes no more commands when its events have about this size. One command adds at most about 330 KiB (a
 * migration configuration with its decision), so a batch stays below 512 KiB; the log
 * takes 640.
 */
export const fullBatchBytes = 131_072;

/** A batch of this size ends no more terms by time and grants nobody who waits: they are the next one's. */
export const crowdedBatchBytes = 262_144;
