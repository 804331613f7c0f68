export { Call, CommandCall, type CommittedView, ReadCall, type RenderReply, RenewalCall } from "./call.ts";
export { limitReached, notServing, ownerChanged } from "./faults.ts";
export type { ReplicaOptions } from "./options.ts";
export { OwnerChanges } from "./owner-changes.ts";
export { type Beats, OwnershipDriver, type OwnershipDriverOptions } from "./ownership-driver.ts";
export type { CommittedBatch } from "./partition-owner.ts";
export { type AppliedBatch, type PartitionListener, PartitionReplica, type Role } from "./partition-replica.ts";
export type * from "./ports.ts";
export { type StoreListener, StoreReplica } from "./store-replica.ts";
