import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { LeaseSpec, PartitionSnapshot, StoredClient, StoredLease, StoredPosition } from "@tenure/core";
import { defaultSettings } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { SnapshotHeader } from "../../gen/tenure/log/v1/snapshot.ts";
import { type SnapshotPartition, SnapshotRecord } from "../../gen/tenure/log/v1/snapshot_record.ts";
import { formatTooNew, malformedRecord, requireKnown } from "../log/log-fault.ts";
import { Reading } from "../reading.ts";
import { leaseSpecFromWire } from "../value/lease-spec.ts";
import { settingsFromWire } from "../value/settings.ts";
import { snapshotReferenceFromWire } from "../value/snapshot-reference.ts";
import { hexOf } from "../value/text.ts";
import { durationFromWire } from "../value/time.ts";
import { clientRecordFromWire, type RetiredClient, retiredClientFromWire } from "./client-record.ts";
import { type SnapshotOrigin, snapshotFormatVersion } from "./encode-snapshot.ts";
import { leaseFromRecord } from "./lease-from-record.ts";
import { indexOf } from "./place.ts";
import { addPositions } from "./position-table.ts";

/** A snapshot and where it comes from. */
export interface ReadSnapshot {
  readonly snapshot: PartitionSnapshot;
  readonly origin: SnapshotOrigin;
}

/**
 * The snapshot of an object. A higher format, or a value that this version does not know, is refused with
 * FORMAT_TOO_NEW; an object that is cut short, has too much or is no snapshot with MALFORMED_MESSAGE.
 */
export function decodeSnapshot(object: Uint8Array): ReadSnapshot {
  const steps = decodeSnapshotInSteps(object);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** How many records one step reads: a few milliseconds, so that a caller can pause between steps. */
const recordsPerStep = 1_024;

/** As {@link decodeSnapshot}, in steps: each tells how many records have been read, and the last gives the snapshot. */
export function* decodeSnapshotInSteps(object: Uint8Array): Generator<number, ReadSnapshot> {
  let what = "snapshot";
  try {
    const reader = new BinaryReader(object);
    const header = SnapshotHeader.decode(reader, reader.uint32());
    what = `snapshot ${header.partition}/${header.sequence}`;
    requireFormat(what, header);
    const parts = newParts();
    for (let count = 1; reader.pos < reader.len; count++) {
      readRecord(parts, SnapshotRecord.decode(reader, reader.uint32()));
      parts.count = count;
      if (count % recordsPerStep === 0) yield count;
    }
    if (BigInt(parts.count) !== header.records) throw new Error(`it has ${parts.count} records, not ${header.records}`);
    if (reader.pos !== reader.len) throw new Error("its last record is cut off");
    const snapshot = assemble(header, parts);
    requireKnown(what, parts.reading);
    return { snapshot, origin: originOf(header) };
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.reason === "FORMAT_TOO_NEW") throw thrown;
    throw malformedRecord(what, thrown);
  }
}

function requireFormat(what: string, { formatVersion }: SnapshotHeader): void {
  if (formatVersion < 1) throw new Error("it has no format version");
  if (formatVersion <= snapshotFormatVersion) return;
  throw formatTooNew(what, `its format is ${formatVersion}, and this version reads up to ${snapshotFormatVersion}`);
}

/** What has been read so far. */
interface Parts {
  readonly reading: Reading;
  count: number;
  partition: SnapshotPartition | undefined;
  readonly positions: StoredPosition[];
  readonly specs: LeaseSpec[];
  readonly leases: StoredLease[];
  readonly clients: StoredClient[];
  readonly retiredClients: RetiredClient[];
}

function newParts(): Parts {
  return {
    reading: new Reading(),
    count: 0,
    partition: undefined,
    positions: [],
    specs: [],
    leases: [],
    clients: [],
    retiredClients: [],
  };
}

function readRecord(parts: Parts, { record }: SnapshotRecord): void {
  const { reading } = parts;
  switch (record?.$case) {
    case "lease":
      parts.leases.push(leaseFromRecord(reading, record.value, parts.specs));
      return;
    case "client":
      parts.clients.push(clientRecordFromWire(reading, record.value));
      return;
    case "retiredClients":
      for (const client of record.value.clients) parts.retiredClients.push(retiredClientFromWire(client));
      return;
    case "positions":
      addPositions(parts.positions, record.value);
      return;
    case "specs":
      for (const spec of record.value.specs) parts.specs.push(leaseSpecFromWire(reading, "spec", spec));
      return;
    case "partition":
      parts.partition = record.value;
      return;
    default:
      reading.reject("record", "must be of a kind that this version knows", "an unknown kind");
  }
}

function assemble(header: SnapshotHeader, parts: Parts): PartitionSnapshot {
  const { clients, leases, partition: state, positions, reading, retiredClients } = parts;
  if (state === undefined) throw new Error("it has no partition");
  const recoveryFrom = indexOf(state.recovery);
  const holdOffMs = durationFromWire(reading, "recovery_hold_off", state.recoveryHoldOff, 0);
  return {
    formatVersion: snapshotFormatVersion,
    partition: header.partition,
    sequence: header.sequence,
    batchId: hexOf(header.lastBatchId),
    epoch: header.epoch,
    owner: header.owner,
    successor: state.successor,
    owesPause: state.owesPause,
    epochStart: state.epochStart - 1,
    nextId: Number(state.nextId),
    settings: state.settings === undefined ? defaultSettings : settingsFromWire(reading, "settings", state.settings),
    recovery: recoveryFrom === undefined ? undefined : { from: recoveryFrom, holdOffMs },
    snapshot: state.snapshot && snapshotReferenceFromWire(state.snapshot),
    positions,
    leases,
    clients,
    retiredClients,
  };
}

function originOf({ createdAt, incarnationId, previous, writer }: SnapshotHeader): SnapshotOrigin {
  return {
    incarnationId,
    writer,
    wallMs: createdAt === undefined ? 0 : Number(createdAt.seconds) * 1000 + createdAt.nanos / 1_000_000,
    previous: previous && snapshotReferenceFromWire(previous),
  };
}
