import type { StreamConfig } from "@nats-io/jetstream";
import { auditWildcard, incarnationSubject, logWildcard, probeWildcard } from "@tenure/bus";

/** The object store bucket that keeps snapshots. Its stream is named by the object store's own rule. */
export const snapshotBucket = "TENURE_SNAPSHOTS";

/** Every stream of a deployment, by the part it plays. `init` makes them; services only use them. */
export const streamNames = {
  log: "TENURE_LOG",
  snapshots: `OBJ_${snapshotBucket}`,
  audit: "TENURE_AUDIT",
  probe: "TENURE_PROBE",
  incarnation: "TENURE_INCARNATION",
} as const;

/** The part that a stream plays. */
export type StreamRole = keyof typeof streamNames;

/** The roles in the order in which they are shown to people. */
export const streamRoles = Object.keys(streamNames) as readonly StreamRole[];

/** Metadata key that ties a stream to the incarnation that made it: a stream made by hand lacks it or differs. */
export const incarnationMetadataKey = "tenure.incarnation";

/** What `init` decides once for all streams. */
export interface StreamPlan {
  /** Copies of every stream: 3 in production, 1 in development. */
  readonly replicas: number;
  /** Id of the incarnation that the streams belong to. */
  readonly incarnationId: string;
  /** Sequence of the log's first message, so that a new log never reuses a token of an older one. */
  readonly firstSequence: bigint;
}

/** The settings of a stream that this product decides; the server fills in the rest with its defaults. */
export type StreamSettings = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects" | "num_replicas">;

const mebibyte = 1024 * 1024;
const nanosPerMs = 1_000_000;

/**
 * The lease store closes a batch long before 512 KiB; this leaves room for headers and stays below the server's
 * `max_payload` of 1 MB, so the stream is the second line of defence and the server the third.
 */
export const largestLogMessageBytes = 640 * 1024;

/** The share of the log's `max_bytes` from which a warning is due: what is left is the time to act. */
export const logAlarmShare = 0.7;

/**
 * Deduplication is not used (no `Nats-Msg-Id` on appends): the window is as small as a server takes it without
 * falling back to two minutes.
 */
const duplicateWindowNanos = 1000 * nanosPerMs;

/** How long audit entries are kept: a year and a month, so that a yearly review sees the whole year. */
const auditAgeNanos = 400 * 24 * 3_600_000 * nanosPerMs;

/** A probe's messages mean nothing after the probe. */
const probeAgeNanos = 10 * 60_000 * nanosPerMs;

/** What all streams share: on disk, read through the leader only, tied to their incarnation. */
function shared(plan: StreamPlan) {
  return {
    num_replicas: plan.replicas,
    storage: "file",
    retention: "limits",
    allow_direct: false,
    deny_delete: true,
    duplicate_window: duplicateWindowNanos,
    metadata: { [incarnationMetadataKey]: plan.incarnationId },
  } as const;
}

/**
 * The log: the only truth. A full log refuses (`discard new`) instead of forgetting, nothing ages out, and messages
 * go only by the compactor's purge below a snapshot.
 */
export function logStream(plan: StreamPlan): StreamSettings {
  return {
    ...shared(plan),
    name: streamNames.log,
    description: "tenure: the log of every change; the truth",
    subjects: [logWildcard],
    discard: "new",
    max_age: 0,
    max_bytes: 1024 * mebibyte,
    max_msg_size: largestLogMessageBytes,
    first_seq: Number(plan.firstSequence),
  };
}

/** The record of when and how this deployment was made. One message, for ever: the server refuses a second one. */
export function incarnationStream(plan: StreamPlan): StreamSettings {
  return {
    ...shared(plan),
    name: streamNames.incarnation,
    description: "tenure: the incarnation record, written once by init",
    subjects: [incarnationSubject],
    discard: "new",
    deny_purge: true,
    max_msgs: 1,
    max_bytes: mebibyte,
    max_msg_size: 64 * 1024,
  };
}

/** The audit log: append only; entries leave by age, the oldest first if space ends before. */
export function auditStream(plan: StreamPlan): StreamSettings {
  return {
    ...shared(plan),
    name: streamNames.audit,
    description: "tenure: who did what, also what was denied",
    subjects: [auditWildcard],
    discard: "old",
    deny_purge: true,
    max_age: auditAgeNanos,
    max_bytes: 512 * mebibyte,
    max_msg_size: 128 * 1024,
  };
}

/**
 * The snapshots' object store, laid out as the NATS object store lays out its buckets, but without direct reads.
 * Roll-ups replace an object's metadata and need purge, so purge is held back by permission instead.
 */
export function snapshotStream(plan: StreamPlan): StreamSettings {
  return {
    ...shared(plan),
    name: streamNames.snapshots,
    description: "tenure: snapshots of partitions",
    subjects: [`$O.${snapshotBucket}.C.>`, `$O.${snapshotBucket}.M.>`],
    discard: "new",
    allow_rollup_hdrs: true,
    max_bytes: 1024 * mebibyte,
  };
}

/** Where the compare-and-set probe plays: replicated like the log, and otherwise worth nothing. */
export function probeStream(plan: StreamPlan): StreamSettings {
  return {
    ...shared(plan),
    name: streamNames.probe,
    description: "tenure: the compare-and-set probe's playground",
    subjects: [probeWildcard],
    discard: "old",
    max_msgs_per_subject: 1,
    max_age: probeAgeNanos,
    max_bytes: mebibyte,
    max_msg_size: 4096,
  };
}
