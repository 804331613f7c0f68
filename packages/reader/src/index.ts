// The log as a read model: following partitions, reading them, listing and watching their records.
export { ChangeLog } from "./change-log.ts";
export type { AppliedBatch, Change, ChangeSet, SeenCandidate } from "./change-set.ts";
export { partitionHalted, replicaBehind, tooManyWatchers, watcherTooSlow } from "./faults.ts";
export { inSteps } from "./in-steps.ts";
export { LeaseNews, type NewsListener, newsOf } from "./lease-news.ts";
export { type ListScope, listCandidates, listLeases } from "./lists.ts";
export { type LoadPorts, loadPartition } from "./load-partition.ts";
export { type LogDecoder, logDecoder, type ReadableBatch } from "./log-decoder.ts";
export { LogReader, type LogReaderListener, type LogReaderOptions, type LogReaderPorts } from "./log-reader.ts";
export {
  type FollowerListener,
  type FollowerPorts,
  type FollowerRole,
  PartitionFollower,
} from "./partition-follower.ts";
export { PastState } from "./past-state.ts";
export { candidateReads, guardReads, leaseReads, type PointRead, readPlain } from "./point-reads.ts";
export { partitionsOf, type ReadModel, reachIn, settle, viewAt } from "./read-model.ts";
export {
  decodeResumeToken,
  encodeResumeToken,
  type ResumeToken,
  type WatchPlace,
  type WatchSubject,
} from "./resume-token.ts";
export { type ChangeListener, type Interest, WatchHub, type WatchHubOptions } from "./watch-hub.ts";
export { Watches, type WatchLimits, type WatchResponses } from "./watches.ts";
