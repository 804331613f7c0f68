import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Timestamp } from "../../gen/google/protobuf/timestamp.ts";
import type { Batch } from "../../gen/tenure/log/v1/batch.ts";
import { Event } from "../../gen/tenure/log/v1/event.ts";
import { SnapshotReference } from "../../gen/tenure/log/v1/snapshot.ts";

/** Events that a reader does without: they are skipped, not decoded. */
export interface LeftOut {
  /** What clients' attempts did: only who may own a partition needs it. */
  readonly attempts?: boolean;
  /** Changes of guarded values. */
  readonly guarded?: boolean;
  /** Hashes of holders' secrets: owners compare them, and who registers identities. */
  readonly secrets?: boolean;
}

const noBytes = new Uint8Array(0);
/** The kinds of events by their fields in `Event`, of which the first two say who caused it and why. */
const firstKind = 10;
const attemptRecorded = 13;
const attemptsForgotten = 14;
const guardChanged = 80;

type Growing<Message> = { -readonly [Key in keyof Message]: Message[Key] };

/** The same as `Batch.decode`, but for the events that are left out; those in packed terms are still in them. */
export function decodeWireBatch(payload: Uint8Array, leftOut: LeftOut): Batch {
  const reader = new BinaryReader(payload);
  const events: Event[] = [];
  const batch: Growing<Batch> = {
    formatVersion: 0,
    partition: 0,
    epoch: 0n,
    batchId: noBytes,
    prev: 0n,
    snapshot: undefined,
    writer: "",
    writtenAt: undefined,
    events,
    renewals: noBytes,
    incarnationId: "",
    prevBatchId: noBytes,
  };
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag !== eventTag) readField(reader, tag, batch);
    else {
      const event = readEvent(reader, leftOut);
      if (event !== undefined) events.push(event);
    }
  }
  return batch;
}

const eventTag = (9 << 3) | 2;

/** The event that begins here; undefined if it is left out. */
function readEvent(reader: BinaryReader, leftOut: LeftOut): Event | undefined {
  const end = reader.uint32() + reader.pos;
  const kind = end <= reader.len ? kindOf(reader, end) : 0;
  if (isLeftOut(kind, leftOut)) {
    reader.pos = end;
    return undefined;
  }
  const event = Event.decode(reader, end - reader.pos);
  return leftOut.secrets === true ? withoutSecret(event) : event;
}

function withoutSecret(event: Event): Event {
  if (event.event?.$case !== "holdGranted") return event;
  const value = { ...event.event.value, renewKeyHash: noBytes };
  return { ...event, event: { $case: "holdGranted", value } };
}

function readField(reader: BinaryReader, tag: number, batch: Growing<Batch>): void {
  switch (tag) {
    case 1 << 3:
      batch.formatVersion = reader.uint32();
      return;
    case 2 << 3:
      batch.partition = reader.uint32();
      return;
    case 3 << 3:
      batch.epoch = BigInt(reader.uint64());
      return;
    case (4 << 3) | 2:
      batch.batchId = reader.bytes();
      return;
    case 5 << 3:
      batch.prev = BigInt(reader.uint64());
      return;
    case (6 << 3) | 2:
      batch.snapshot = SnapshotReference.decode(reader, reader.uint32());
      return;
    case (7 << 3) | 2:
      batch.writer = reader.string();
      return;
    case (8 << 3) | 2:
      batch.writtenAt = Timestamp.decode(reader, reader.uint32());
      return;
    case (10 << 3) | 2:
      batch.renewals = reader.bytes();
      return;
    case (11 << 3) | 2:
      batch.incarnationId = reader.string();
      return;
    case (12 << 3) | 2:
      batch.prevBatchId = reader.bytes();
      return;
    default:
      reader.skip(tag & 7);
  }
}

/** The field of an event that says what happened; 0 if it has none. The reader stays where it is. */
function kindOf(reader: BinaryReader, end: number): number {
  const from = reader.pos;
  let kind = 0;
  while (kind < firstKind && reader.pos < end) {
    const tag = reader.uint32();
    kind = tag >>> 3;
    if (kind < firstKind) reader.skip(tag & 7);
  }
  reader.pos = from;
  return kind < firstKind ? 0 : kind;
}

function isLeftOut(kind: number, { attempts = false, guarded = false }: LeftOut): boolean {
  if (kind === guardChanged) return guarded;
  return attempts && (kind === attemptRecorded || kind === attemptsForgotten);
}
