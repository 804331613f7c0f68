import type { Bus } from "@tenure/bus";
import { type Clock, Fault, invalid, type Random, randomBase58, systemRandom } from "@tenure/kernel";
import { deploymentState, partialFault } from "./deployment-state.ts";
import { findIncarnation, type Incarnation, incarnationFault, problemOf } from "./incarnation.ts";
import { incarnationFormatVersion } from "./incarnation-codec.ts";
import { inspectStreams } from "./inspect.ts";
import { askJetStream, type ReadOptions } from "./jetstream-api.ts";
import { errorCodeOf } from "./jetstream-fault.ts";
import { jetStreamErrorCodes } from "./js-errors.ts";
import {
  auditStream,
  incarnationStream,
  logStream,
  probeStream,
  type StreamPlan,
  type StreamSettings,
  snapshotStream,
} from "./streams.ts";
import { writeRecord } from "./write-record.ts";

/** What `init` is told. */
export interface CreateOptions {
  /** Copies of every stream, 1 to 5: 3 in production. */
  readonly replicas: number;
  /** 1 to 256, 8 when absent. An existing deployment keeps its own number; naming another is refused. */
  readonly partitions?: number;
  /** Version of the program, kept in the record for people. */
  readonly createdBy?: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly signal?: AbortSignal;
}

/** The incarnation, and whether this call made it. */
export interface CreatedIncarnation extends Incarnation {
  readonly created: boolean;
}

/** What a new deployment gets unless told otherwise. */
export const defaultPartitions = 8;
/** More partitions than this cost memory in every reader and gain nothing. */
export const mostPartitions = 256;

/** How long to wait for another `init` that seems to be at work before its remains are called remains. */
const otherInitBoundMs = 15_000;
const otherInitStepMs = 200;
/** How long to wait until enough servers have joined for a stream's replicas. */
const createBoundMs = 30_000;

/**
 * `init`: makes the streams and the incarnation record, only if none of them exists. Everything there and valid: the
 * existing incarnation is returned. Anything in between is refused and left as it is. Two at once agree: the stream of
 * the record is made first and carries the maker's id, so only one of them gets it; the record is written last, with
 * the condition that there is none.
 */
export async function createStreams(bus: Bus, options: CreateOptions): Promise<CreatedIncarnation> {
  checkOptions(options);
  const streams = await inspectStreams(bus, reading(options));
  if (Object.keys(streams).length > 0) return await existing(bus, options);
  const incarnation = planIncarnation(options);
  const plan = { replicas: options.replicas, incarnationId: incarnation.id, firstSequence: incarnation.firstSequence };
  if (!(await addStream(bus, incarnationStream(plan), options))) return await existing(bus, options);
  for (const settings of [logStream(plan), snapshotStream(plan), auditStream(plan), probeStream(plan)]) {
    if (!(await addStream(bus, settings, options))) throw takenFault(settings.name);
  }
  await writeRecord(bus, incarnation, { ...reading(options), boundMs: createBoundMs });
  return { ...incarnation, created: true };
}

function reading({ clock, random, signal }: CreateOptions): ReadOptions {
  return { clock, ...(random === undefined ? {} : { random }), ...(signal === undefined ? {} : { signal }) };
}

function checkOptions({ replicas, partitions = defaultPartitions }: CreateOptions): void {
  const bounded = [
    { field: "partitions", value: partitions, most: mostPartitions },
    { field: "replicas", value: replicas, most: 5 },
  ];
  const violations = bounded
    .filter(({ value, most }) => !Number.isInteger(value) || value < 1 || value > most)
    .map(({ field, value, most }) => ({
      field,
      rule: `must be a whole number from 1 to ${most}`,
      value: String(value),
    }));
  if (violations.length > 0) throw invalid(violations);
}

/** The first sequence is the present in microseconds: beyond every token of an earlier log, and below 2^53. */
function planIncarnation(options: CreateOptions): Incarnation {
  const { partitions = defaultPartitions, createdBy, clock, random = systemRandom } = options;
  const nowMicros = BigInt(Math.floor(clock.wall() * 1000));
  if (nowMicros <= 0n || nowMicros >= 1n << 53n) {
    throw new Fault({
      code: "FAILED_PRECONDITION",
      reason: "CLOCK_UNUSABLE",
      message: `the machine's clock says ${nowMicros} microseconds since 1970, which cannot begin a log: set the clock`,
    });
  }
  return {
    id: randomBase58(random, 22),
    createdAtMicros: nowMicros,
    partitions,
    firstSequence: nowMicros,
    formatVersion: incarnationFormatVersion,
    ...(createdBy === undefined ? {} : { createdBy }),
  };
}

/**
 * False when a stream of that name and other settings exists already, which means another maker. A creation whose
 * answer was lost may be repeated: the same settings, with the maker's id in them, are accepted again.
 */
function addStream(bus: Bus, settings: StreamSettings, options: CreateOptions): Promise<boolean> {
  return askJetStream(
    bus,
    `create the stream ${settings.name} with ${settings.num_replicas} replica(s)`,
    async (manager) => {
      try {
        await manager.streams.add({ ...settings });
        return true;
      } catch (thrown) {
        if (errorCodeOf(thrown) === jetStreamErrorCodes.streamNameExists) return false;
        throw thrown;
      }
    },
    { ...reading(options), boundMs: createBoundMs },
  );
}

/** Something exists: the finished deployment, or another init at work, or remains. Time tells the last two apart. */
async function existing(bus: Bus, options: CreateOptions): Promise<CreatedIncarnation> {
  const startedAt = options.clock.now();
  for (;;) {
    // The record first: it is written last, so the streams that are read after it are all there.
    const found = await findIncarnation(bus, reading(options));
    const streams = await inspectStreams(bus, reading(options));
    if (unreadableKinds.has(found.kind) && found.kind !== "present") throw incarnationFault(problemOf(found));
    const state = deploymentState(streams, found);
    if (state === "whole" && found.kind === "present") {
      const incarnation = sameAsAsked(found.incarnation, options);
      if (streams.probe === undefined) await renewProbe(bus, incarnation, streams.log?.replicas, options);
      return incarnation;
    }
    // A stream whose creation is under way is refused to others before it can be seen.
    const mayGoOn = state === "being-made" || state === "absent";
    if (!mayGoOn || options.clock.now() - startedAt > otherInitBoundMs) throw partialFault(streams, found);
    await options.clock.sleep(otherInitStepMs, options.signal);
  }
}

/** Readings with a text of their own, which no other init at work can explain. */
const unreadableKinds: ReadonlySet<string> = new Set(["record-malformed", "format-unknown", "log-replaced"]);

/** The probe's stream holds nothing, so a lost one is made again. */
async function renewProbe(
  bus: Bus,
  { id, firstSequence }: Incarnation,
  replicas: number | undefined,
  options: CreateOptions,
): Promise<void> {
  const plan: StreamPlan = { replicas: replicas ?? options.replicas, incarnationId: id, firstSequence };
  await addStream(bus, probeStream(plan), options);
}

function sameAsAsked(incarnation: Incarnation, { partitions }: CreateOptions): CreatedIncarnation {
  if (partitions === undefined || partitions === incarnation.partitions) return { ...incarnation, created: false };
  throw new Fault({
    code: "FAILED_PRECONDITION",
    reason: "PARTITIONS_FIXED",
    message: `this deployment has ${incarnation.partitions} partitions and ${partitions} were asked for: the number is fixed at init, because it decides where every lease lives`,
  });
}

function takenFault(name: string): Fault {
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "INIT_INTERFERED",
    message: `the stream ${name} appeared while init was creating the others: something else creates TENURE streams; stop it, delete the TENURE streams and run init again`,
  });
}
