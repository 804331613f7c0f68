import { logWildcard } from "@tenure/bus";
import { snapshotBucket, streamNames } from "@tenure/log";

/** Every stream of the deployment. */
const allStreams = Object.values(streamNames);

/** What the boot check of every service reads: the account, the streams' settings, the incarnation record. */
export const inspection: readonly string[] = [
  "$JS.API.INFO",
  ...allStreams.map((stream) => `$JS.API.STREAM.INFO.${stream}`),
  `$JS.API.STREAM.MSG.GET.${streamNames.incarnation}`,
];

/** Reading the log: a consumer of one's own, filtered by partition or not, and single messages by sequence. */
export const logReading: readonly string[] = [
  `$JS.API.STREAM.MSG.GET.${streamNames.log}`,
  ...consuming(streamNames.log, logWildcard),
];

/** Reading a snapshot: its description, then its chunks through a push consumer with flow control. */
export const snapshotReading: readonly string[] = [
  `$JS.API.STREAM.MSG.GET.${streamNames.snapshots}`,
  ...consuming(streamNames.snapshots, `$O.${snapshotBucket}.C.*`),
  `$JS.FC.${streamNames.snapshots}.>`,
];

/**
 * Writing a snapshot: its chunks, under partition, sequence and attempt, and its description. What is outdated is removed
 * by the compactor.
 */
export const snapshotWriting: readonly string[] = [
  `$O.${snapshotBucket}.C.*`,
  `$O.${snapshotBucket}.C.*.*.*`,
  `$O.${snapshotBucket}.M.*`,
];

/** Making the streams, each by name: no other stream, no update, no delete, no restore. */
export const streamMaking: readonly string[] = allStreams.map((stream) => `$JS.API.STREAM.CREATE.${stream}`);

/** Emptying what a snapshot has made superfluous: the one right of the compactor. */
export const purging: readonly string[] = [streamNames.log, streamNames.snapshots].map(
  (stream) => `$JS.API.STREAM.PURGE.${stream}`,
);

/**
 * A consumer's whole life. The client leaves the name out of the subject for a consumer that the server names, and the
 * filter for one of several subjects.
 */
function consuming(stream: string, filter: string): readonly string[] {
  return [
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}.*`,
    `$JS.API.CONSUMER.CREATE.${stream}.*.${filter}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
    `$JS.API.CONSUMER.INFO.${stream}.*`,
    `$JS.API.CONSUMER.DELETE.${stream}.*`,
  ];
}
