export { AppendChannel, type AppendOutcome, type AppendRequest } from "./append-channel.ts";
export { type ProbeOptions, type ProbeResult, probeCompareAndSet } from "./cas-probe.ts";
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
export type { AppendRefusal } from "./js-errors.ts";
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
