// The log as a read model: following partitions, reading them, listing and watching their records.

export { BusLogReader } from "./bus-log-reader.ts";
export type { AppliedBatch, ChangeSet } from "./change-set.ts";
export { replicaBehind, watcherTooSlow } from "./faults.ts";
export { inSteps } from "./in-steps.ts";
export { LeaseNews } from "./lease-news.ts";
export { type LeaseListing, type ListScope, listByLease, listCandidates, listLeases } from "./lists.ts";
export { logDecoder } from "./log-decoder.ts";
export { LogReader } from "./log-reader.ts";
export { type OpenWatches, takePlace } from "./open-watches.ts";
export { PartitionLoader } from "./partition-loader.ts";
export type { PastState } from "./past-state.ts";
export { candidateReads, guardReads, leaseReads, type PointRead, readPlain } from "./point-reads.ts";
export { type ReadModel, reachIn, viewAt } from "./read-model.ts";
export { decodeResumeToken } from "./resume-token.ts";
export { type ChangeListener, WatchHub } from "./watch-hub.ts";
export { beginsAnew, heartbeatOf, markAt } from "./watch-options.ts";
export { Watches, type WatchLimits } from "./watches.ts";
