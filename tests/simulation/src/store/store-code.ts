import * as replica from "@tenure/lease-store/replica";

/**
 * The production code that a world runs: replicas, and the calls that they answer. A mutated copy of it can stand in
 * for it, to show that the oracles see the difference.
 */
export type StoreCode = Pick<typeof replica, "CommandCall" | "OwnershipDriver" | "ReadCall" | "StoreReplica">;

/** The code as it is. */
export const productionCode: StoreCode = replica;
