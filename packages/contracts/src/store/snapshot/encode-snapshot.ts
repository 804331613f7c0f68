import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { PartitionSnapshot, SnapshotReference } from "@tenure/core";
import { SnapshotHeader } from "../../gen/tenure/log/v1/snapshot.ts";
import { type SnapshotPartition, SnapshotRecord } from "../../gen/tenure/log/v1/snapshot_record.ts";
import { timestampFromMs } from "../../timestamp.ts";
import { batchIdToWire } from "../value/batch-id.ts";
import { settingsToWire } from "../value/settings.ts";
import { snapshotReferenceToWire } from "../value/snapshot-reference.ts";
import { optionalDurationToWire } from "../value/time.ts";
import { clientRecordToWire, retiredClientsPerRecord, retiredClientToWire } from "./client-record.ts";
import { leaseToRecord } from "./lease-to-record.ts";
import { placeOf } from "./place.ts";
import { positionsPerRecord, positionsToWire } from "./position-table.ts";
import { collectSpecs, type SpecTable, specsPerRecord } from "./spec-table.ts";

/** The version of a snapshot's format that is written and the highest that is read. */
export const snapshotFormatVersion = 1;

/** Where a snapshot comes from; what its header says beside the partition's own numbers. */
export interface SnapshotOrigin {
  readonly incarnationId: string;
  /** The instance that made it. */
  readonly writer: string;
  /** When, in epoch ms by its wall clock; for people. */
  readonly wallMs: number;
  /** The snapshot before; the log may be purged strictly below that one. */
  readonly previous: SnapshotReference | undefined;
}

/** How many records a piece has. It takes a few milliseconds to make, so that a caller can pause between pieces. */
const recordsPerChunk = 1_024;

/** The whole object of a snapshot. Deterministic: equal snapshots of equal origin give equal bytes. */
export function encodeSnapshot(snapshot: PartitionSnapshot, origin: SnapshotOrigin): Uint8Array {
  return Buffer.concat([...snapshotChunks(snapshot, origin)]);
}

/** The object of a snapshot in pieces, in order, so that neither memory nor the event loop has to take it at once. */
export function* snapshotChunks(snapshot: PartitionSnapshot, origin: SnapshotOrigin): Generator<Uint8Array> {
  const specs = collectSpecs(snapshot.leases);
  const header = headerOf(snapshot, origin, recordCount(snapshot, specs));
  const writer = new BinaryWriter();
  yield SnapshotHeader.encode(header, writer.fork()).join().finish();

  let count = 0;
  for (const record of recordsOf(snapshot, specs)) {
    // A fork that is joined is preceded by its length.
    SnapshotRecord.encode(record, writer.fork()).join();
    count++;
    if (count % recordsPerChunk === 0) yield writer.finish();
  }
  yield writer.finish();
}

function headerOf(snapshot: PartitionSnapshot, origin: SnapshotOrigin, records: number): SnapshotHeader {
  const { batchId, epoch, nextId, owner, partition, sequence } = snapshot;
  const { incarnationId, previous, wallMs, writer } = origin;
  return {
    formatVersion: snapshotFormatVersion,
    incarnationId,
    partition,
    sequence,
    epoch,
    writer,
    createdAt: timestampFromMs(wallMs),
    records: BigInt(records),
    previous: previous && snapshotReferenceToWire(previous),
    lastHoldId: BigInt(nextId - 1),
    owner,
    lastBatchId: batchIdToWire(batchId),
  };
}

function recordCount({ clients, leases, positions, retiredClients }: PartitionSnapshot, { specs }: SpecTable): number {
  return (
    1 +
    Math.ceil(positions.length / positionsPerRecord) +
    Math.ceil(specs.length / specsPerRecord) +
    leases.length +
    clients.length +
    Math.ceil(retiredClients.length / retiredClientsPerRecord)
  );
}

function* recordsOf(snapshot: PartitionSnapshot, specs: SpecTable): Generator<SnapshotRecord> {
  yield { record: { $case: "partition", value: partitionToWire(snapshot) } };
  for (const part of parts(snapshot.positions, positionsPerRecord)) {
    yield { record: { $case: "positions", value: positionsToWire(part) } };
  }
  for (const part of parts(specs.specs, specsPerRecord)) yield { record: { $case: "specs", value: { specs: part } } };
  for (const lease of snapshot.leases) {
    yield { record: { $case: "lease", value: leaseToRecord(lease, specs.placeOf(lease.spec)) } };
  }
  for (const client of snapshot.clients) yield { record: { $case: "client", value: clientRecordToWire(client) } };
  for (const part of parts(snapshot.retiredClients, retiredClientsPerRecord)) {
    yield { record: { $case: "retiredClients", value: { clients: part.map(retiredClientToWire) } } };
  }
}

function* parts<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

function partitionToWire(state: PartitionSnapshot): SnapshotPartition {
  const { epochStart, nextId, owesPause, recovery, settings, snapshot, successor } = state;
  return {
    successor,
    epochStart: epochStart + 1,
    nextId: BigInt(nextId),
    settings: settingsToWire(settings),
    recovery: placeOf(recovery?.from),
    recoveryHoldOff: optionalDurationToWire(recovery?.holdOffMs),
    snapshot: snapshot && snapshotReferenceToWire(snapshot),
    owesPause,
  };
}
