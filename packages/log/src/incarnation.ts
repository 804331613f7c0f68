import type { JetStreamManager } from "@nats-io/jetstream";
import { type Bus, incarnationSubject } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import { decodeIncarnation, incarnationFormatVersion } from "./incarnation-codec.ts";
import { askJetStream, orAbsent, type ReadOptions } from "./jetstream-api.ts";
import { type StreamFacts, streamFactsOf } from "./stream-facts.ts";
import { streamNames } from "./streams.ts";

/** One life of a deployment: what `init` decided, read by everyone and changed by nobody. */
export interface Incarnation {
  /** Random, 22 base58 digits: tells two deployments, or two lives of one, apart. */
  readonly id: string;
  /** When `init` ran, microseconds since the Unix epoch; for people. */
  readonly createdAtMicros: bigint;
  /** Number of partitions of the log. A key's partition is a function of the key and this number. */
  readonly partitions: number;
  /** The sequence that the log was made to begin with. */
  readonly firstSequence: bigint;
  /** The layout of log and snapshots. */
  readonly formatVersion: number;
  /** The incarnation that this was restored from; absent for a fresh deployment. */
  readonly restoredFrom?: string;
  /** Version of the program that wrote the record; for people. */
  readonly createdBy?: string;
}

/** What is to be found of the incarnation. Everything but `present` keeps a service from starting. */
export type IncarnationReading =
  | { readonly kind: "present"; readonly incarnation: Incarnation }
  | { readonly kind: "nothing" }
  | { readonly kind: "stream-missing" }
  | { readonly kind: "record-missing" }
  | { readonly kind: "record-malformed"; readonly problem: string }
  | { readonly kind: "format-unknown"; readonly formatVersion: number }
  | { readonly kind: "log-missing"; readonly incarnation: Incarnation }
  | { readonly kind: "log-replaced"; readonly incarnation: Incarnation; readonly log: StreamFacts };

/** Why a deployment cannot be used: for the message of a fault and for a finding of the doctor. */
export interface IncarnationProblem {
  readonly reason: string;
  readonly what: string;
  readonly why: string;
  readonly fix: string;
}

/** Reads the record and checks that the log belongs to it. Changes nothing. */
export function findIncarnation(bus: Bus, options: ReadOptions = {}): Promise<IncarnationReading> {
  return askJetStream(bus, "read the incarnation record", readRecordAndLog, options);
}

/** The incarnation, or a FAILED_PRECONDITION fault that says what is missing, why it matters and what to do. */
export async function readIncarnation(bus: Bus, options: ReadOptions = {}): Promise<Incarnation> {
  const reading = await findIncarnation(bus, options);
  if (reading.kind === "present") return reading.incarnation;
  throw incarnationFault(problemOf(reading));
}

/** The record is read before the log: `init` writes it last, so whoever sees it sees the log too. */
async function readRecordAndLog(manager: JetStreamManager): Promise<IncarnationReading> {
  const recordStream = await orAbsent(manager.streams.info(streamNames.incarnation));
  if (recordStream === undefined) {
    const log = await orAbsent(manager.streams.info(streamNames.log));
    return { kind: log === undefined ? "nothing" : "stream-missing" };
  }
  const record = await orAbsent(
    manager.streams.getMessage(streamNames.incarnation, { last_by_subj: incarnationSubject }),
  );
  if (record === undefined || record === null) return { kind: "record-missing" };
  const reading = decodeIncarnation(record.data);
  if (reading.kind !== "present") return reading;
  const { incarnation } = reading;
  const log = await orAbsent(manager.streams.info(streamNames.log));
  if (log === undefined) return { kind: "log-missing", incarnation };
  const facts = streamFactsOf(log);
  return belongsTo(facts, incarnation) ? reading : { kind: "log-replaced", incarnation, log: facts };
}

/** A log made by hand in the place of the real one has another id or begins elsewhere. */
function belongsTo(log: StreamFacts, incarnation: Incarnation): boolean {
  return log.incarnationId === incarnation.id && log.madeWithFirstSequence === incarnation.firstSequence;
}

const emptyLog = "an empty log would hand out fencing tokens again that were already used";
/** An older copy of the log passes every check of this file, and hands out used tokens: nobody must put one back. */
const startAnew =
  "make a new deployment, in a new data folder or with new volumes: its tokens begin above all earlier ones; never put " +
  "back an older copy of a stream, which would hand out used tokens";

/** The text of every reading that is not `present`. */
export function problemOf(reading: Exclude<IncarnationReading, { kind: "present" }>): IncarnationProblem {
  switch (reading.kind) {
    case "nothing":
      return {
        reason: "NOT_INITIALIZED",
        what: `the streams ${streamNames.incarnation} and ${streamNames.log} do not exist`,
        why: "services never create them, so that a lost log is never mistaken for a new deployment",
        fix: "run `tenure-provision init` once if this deployment is new; if it is not, its data is gone, and `init` makes a new deployment whose tokens begin above all earlier ones",
      };
    case "stream-missing":
      return {
        reason: "INCARNATION_STREAM_MISSING",
        what: `the stream ${streamNames.incarnation} is missing while ${streamNames.log} exists`,
        why: "without the record nobody knows how many partitions the log has and which life of it this is",
        fix: startAnew,
      };
    case "record-missing":
      return {
        reason: "INCARNATION_MISSING",
        what: `the stream ${streamNames.incarnation} holds no incarnation record`,
        why: "`init` writes it last, so an init was interrupted, or the record was removed",
        fix: "if no service has ever run here, delete the TENURE streams and run `tenure-provision init` again; otherwise make a new deployment",
      };
    case "record-malformed":
      return {
        reason: "INCARNATION_MALFORMED",
        what: `the incarnation record cannot be read: ${reading.problem}`,
        why: "its number of partitions decides where every lease lives",
        fix: startAnew,
      };
    case "format-unknown":
      return {
        reason: "INCARNATION_FORMAT_UNKNOWN",
        what: `the incarnation record has format version ${reading.formatVersion}, this build knows only ${incarnationFormatVersion}`,
        why: "a log of another format would be misread",
        fix: "run the version of Tenure that wrote it, or a newer one",
      };
    case "log-missing":
      return {
        reason: "LOG_STREAM_MISSING",
        what: `the stream ${streamNames.log} is missing, though incarnation ${reading.incarnation.id} has one`,
        why: emptyLog,
        fix: startAnew,
      };
    case "log-replaced":
      return {
        reason: "LOG_STREAM_REPLACED",
        what: `the stream ${streamNames.log} was not made for incarnation ${reading.incarnation.id} (it begins at ${reading.log.madeWithFirstSequence}, the record says ${reading.incarnation.firstSequence})`,
        why: emptyLog,
        fix: startAnew,
      };
  }
}

/** A problem as the fault that stops a service. */
export function incarnationFault({ reason, what, why, fix }: IncarnationProblem): Fault {
  return new Fault({ code: "FAILED_PRECONDITION", reason, message: `${what}: ${why}; ${fix}` });
}
