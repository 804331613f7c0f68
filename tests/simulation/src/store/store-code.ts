import * as coordinator from "@tenure/election/coordinator";
import * as replica from "@tenure/lease-store/replica";
import { BatchWriter } from "@tenure/log";
import * as reader from "@tenure/reader";

/**
 * The production code that a world runs: replicas, the calls that they answer, what they append with, what feeds
 * watches, and coordinators. A mutated copy of it can stand in for it, to show that the oracles see the difference.
 */
export type StoreCode = Pick<typeof replica, "CommandCall" | "OwnershipDriver" | "ReadCall" | "StoreReplica"> &
  Pick<typeof reader, "LogReader" | "WatchHub" | "Watches"> &
  Pick<typeof coordinator, "Coordination"> & { readonly BatchWriter: typeof BatchWriter };

/** The code as it is. */
export const productionCode: StoreCode = { ...replica, ...reader, ...coordinator, BatchWriter };
