import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { Event, HoldEvent, LoggedBatch, SnapshotReference } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { encodeMessage } from "../../encode-message.ts";
import { Batch } from "../../gen/tenure/log/v1/batch.ts";
import type { Event as LoggedEvent } from "../../gen/tenure/log/v1/event.ts";
import { timestampFromMs } from "../../timestamp.ts";
import { Reading } from "../reading.ts";
import { batchIdToWire } from "../value/batch-id.ts";
import { snapshotReferenceFromWire, snapshotReferenceToWire } from "../value/snapshot-reference.ts";
import { hexOf } from "../value/text.ts";
import { addFromWire, eventToWire } from "./event-codec.ts";
import { formatTooNew, malformedRecord, requireKnown } from "./log-fault.ts";
import { TermPack } from "./pack-terms.ts";
import { packRenewals, unpackRenewals } from "./renewal-events.ts";
import { decodeWireBatch, type LeftOut } from "./wire-batch.ts";

/** The version of the log's format that is written and the highest that is read. */
export const logFormatVersion = 1;
const batchIdBytes = 16;

/** A batch on its way into the log, which gives it its sequence. */
export interface OutgoingBatch extends Omit<LoggedBatch, "sequence"> {
  /** The instance that writes. */
  readonly writer: string;
  readonly incarnationId: string;
  /** The latest snapshot of the partition; undefined before the first. */
  readonly snapshot: SnapshotReference | undefined;
}

/** A batch as it stands in the log, with what else it carries. */
export interface ReadBatch extends OutgoingBatch {
  readonly sequence: bigint;
}

/**
 * The payload of a batch. Deterministic: equal batches give equal bytes. Everything in it comes back from
 * {@link decodeBatch}, except who caused a plain renewal, and renewals come after all other events, merged by send
 * number.
 */
export function encodeBatch(batch: OutgoingBatch): Uint8Array {
  const { batchId, epoch, incarnationId, partition, prev, prevBatchId, snapshot, wallMs, writer } = batch;
  const events: LoggedEvent[] = [];
  // What was left by a batch that could not be encoded is not this one's.
  terms.clear();
  let renewals: Extract<HoldEvent, { readonly kind: "renewed" }>[] | undefined;
  for (const event of batch.events) {
    if (event.kind === "renewed") {
      renewals ??= [];
      renewals.push(event);
    } else if (!terms.add(event)) {
      addTerms(events);
      events.push(eventToWire(event, epoch));
    }
  }
  addTerms(events);
  return encodeMessage(Batch, {
    formatVersion: logFormatVersion,
    partition,
    epoch,
    batchId: batchIdToWire(batchId),
    prev,
    snapshot: snapshot && snapshotReferenceToWire(snapshot),
    writer,
    writtenAt: timestampFromMs(wallMs),
    events,
    renewals: packRenewals(partition, renewals ?? []),
    incarnationId,
    prevBatchId: batchIdToWire(prevBatchId),
  });
}

const terms = new TermPack();

/** Adds the terms that were packed so far. */
function addTerms(events: LoggedEvent[]): void {
  const value = terms.take();
  if (value !== undefined) events.push({ author: "", reason: "", event: { $case: "packedTerms", value } });
}

/**
 * The batch of a payload that stands at `sequence`. A higher format version, or an event or value that this version
 * does not know, is refused with FORMAT_TOO_NEW; bytes that are no batch with MALFORMED_MESSAGE. Either way the reader
 * stops and applies nothing of it. Events that are left out are not looked at.
 */
export function decodeBatch(sequence: bigint, payload: Uint8Array, leftOut: LeftOut = {}): ReadBatch {
  const what = `batch ${sequence}`;
  try {
    return readBatch(what, sequence, decodeWireBatch(payload, leftOut), leftOut);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.reason === "FORMAT_TOO_NEW") throw thrown;
    throw malformedRecord(what, thrown);
  }
}

function readBatch(what: string, sequence: bigint, batch: Batch, leftOut: LeftOut): ReadBatch {
  const { epoch, formatVersion, incarnationId, partition, prev, renewals, snapshot, writer, writtenAt } = batch;
  if (formatVersion > logFormatVersion) {
    throw formatTooNew(what, `its format is ${formatVersion}, and this version reads up to ${logFormatVersion}`);
  }
  if (formatVersion < 1) throw new Error("it has no format version");
  if (batch.batchId.length !== batchIdBytes) throw new Error(`its id has ${batch.batchId.length} bytes`);
  const reading = new Reading();
  const events: Event[] = [];
  for (const event of batch.events) addFromWire(events, reading, event, epoch, leftOut);
  requireKnown(what, reading);
  if (renewals.length > 0) events.push(...unpackRenewals(renewals));
  return {
    partition,
    epoch,
    prev,
    prevBatchId: hexOf(batch.prevBatchId),
    sequence,
    wallMs: writtenAt === undefined ? 0 : Number(writtenAt.seconds) * 1000 + writtenAt.nanos / 1_000_000,
    events,
    batchId: hexOf(batch.batchId),
    writer,
    incarnationId,
    snapshot: snapshot && snapshotReferenceFromWire(snapshot),
  };
}

const batchIdTag = (4 << 3) | 2;
const prevBatchIdTag = (12 << 3) | 2;

/** The id of the batch in a payload, without decoding the rest; empty, which is no batch's, if the payload is none. */
export function batchIdOf(payload: Uint8Array): string {
  return idAt(payload, batchIdTag);
}

/** The id of the batch that the one in a payload follows, without decoding the rest; empty if there is none. */
export function prevBatchIdOf(payload: Uint8Array): string {
  return idAt(payload, prevBatchIdTag);
}

function idAt(payload: Uint8Array, wanted: number): string {
  try {
    const reader = new BinaryReader(payload);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag === wanted) return hexOf(reader.bytes());
      reader.skip(tag & 7);
    }
  } catch {
    // Bytes that are no message have no id.
  }
  return "";
}
