export { AppendChannel, type AppendOutcome, type AppendRequest } from "./append-channel.ts";
export { hasBatchAt, type ReadPlace } from "./batch-at.ts";
export { BatchWriter, type BatchWriterOptions, type CommitOutcome, type CommitTrouble } from "./batch-writer.ts";
export { type ProbeOptions, type ProbeResult, probeCompareAndSet } from "./cas-probe.ts";
export {
  type Compaction,
  type CompactionPlan,
  type CompactionResult,
  Compactor,
  type CompactorOptions,
} from "./compactor.ts";
export {
  type CreatedIncarnation,
  type CreateOptions,
  createStreams,
  defaultPartitions,
  mostPartitions,
} from "./create-streams.ts";
export {
  findIncarnation,
  type Incarnation,
  type IncarnationProblem,
  type IncarnationReading,
  problemOf,
  readIncarnation,
} from "./incarnation.ts";
export { inspectJetStream, type JetStreamFacts, type JetStreamState, jetStreamState } from "./inspect.ts";
export type { ReadOptions } from "./jetstream-api.ts";
export { JetStreamTransport, type JetStreamTransportOptions } from "./jetstream-transport.ts";
export type { AppendRefusal } from "./js-errors.ts";
export { type LogSize, readLogSize } from "./log-size.ts";
export type { LogAppend, LoggedMessage, LogTransport, Tail, TailListener } from "./log-transport.ts";
export { type HeardReplica, type OwnBeat, OwnerBeats, type OwnerBeatsOptions } from "./owner-beats.ts";
export { JetStreamSnapshotStore, type SnapshotStoreOptions } from "./snapshot/jetstream-snapshot-store.ts";
export {
  parseSnapshotName,
  type SnapshotObject,
  type SnapshotStore,
  snapshotName,
} from "./snapshot/snapshot-store.ts";
export type { StreamFacts } from "./stream-facts.ts";
export {
  auditStream,
  incarnationStream,
  largestLogMessageBytes,
  logAlarmShare,
  logStream,
  probeStream,
  type StreamPlan,
  type StreamRole,
  type StreamSettings,
  snapshotBucket,
  snapshotStream,
  streamNames,
  streamRoles,
} from "./streams.ts";
export { type GatherOptions, requestMany } from "./system-request.ts";
export { createUserKey, type UserKey, userKeyOf } from "./user-key.ts";
