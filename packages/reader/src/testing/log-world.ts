import { encodeBatch, encodeSnapshot } from "@tenure/contracts";
import {
  type CandidateSpec,
  type CommandBody,
  commitBatch,
  defaultCandidateSpec,
  defaultLeaseSpec,
  emptyPartition,
  execute,
  executePackedRenewal,
  type LeaseKey,
  type OwnedPartition,
  openBatch,
  ownPartition,
  partitionOf,
  type Reply,
  type SnapshotReference,
  takeSnapshot,
} from "@tenure/core";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { MemoryLog, MemorySnapshots, type MemoryTransport } from "@tenure/log/memory";
import { logDecoder } from "../log-decoder.ts";
import { LogReader, type LogReaderListener } from "../log-reader.ts";

const incarnationId = "incarnation-1";

/** Owners of every partition over a log in memory, and readers of it, on a clock that tests move. */
export class LogWorld {
  readonly clock = new FakeClock({ startMs: 1_000 });
  readonly log = new MemoryLog({ clock: this.clock, firstSequence: 1_000n });
  readonly snapshots = new MemorySnapshots();
  readonly partitions: number;
  readonly #owners: readonly OwnedPartition[];
  #references: (SnapshotReference | undefined)[] = [];
  #batches = 0;

  constructor(partitions = 2) {
    this.partitions = partitions;
    const { clock } = this;
    this.#owners = Array.from({ length: partitions }, (_, partition) =>
      ownPartition(emptyPartition(partition, clock.now()), clock.now(), clock.wall()),
    );
    for (const { state } of this.#owners) {
      this.run(state.partition, [{ kind: "takeOver", epoch: 1n, owner: "store-1", isHandedOver: false }]);
    }
  }

  /** Decides commands in one batch and appends it; gives their replies. */
  run(partition: number, commands: readonly CommandBody[], principal = "test"): readonly Reply[] {
    const owned = this.ownerOf(partition);
    openBatch(owned, this.clock.now(), this.clock.wall());
    const replies = commands.map((command) => execute(owned, { ...command, principal }, this.clock.now()));
    this.#append(owned);
    return replies;
  }

  /** Renews every term of a lease in packed form. */
  renew(lease: LeaseKey): void {
    const owned = this.ownerOf(this.partitionOf(lease));
    openBatch(owned, this.clock.now(), this.clock.wall());
    const holdIds = owned.state.leases.get(lease)?.holds.map(({ id }) => id) ?? [];
    executePackedRenewal(owned, { principal: "test", holdIds, sendNumber: 1n } as never, this.clock.now());
    this.#append(owned);
  }

  create(lease: LeaseKey, labels: Readonly<Record<string, string>> = {}): void {
    this.run(this.partitionOf(lease), [{ kind: "create", lease, spec: { ...defaultLeaseSpec, labels } }]);
  }

  label(lease: LeaseKey, labels: Readonly<Record<string, string>>): void {
    this.run(this.partitionOf(lease), [
      {
        kind: "update",
        lease,
        expectedRevision: this.revisionOf(lease),
        expectedUid: undefined,
        spec: { labels },
        createIfAbsent: false,
      },
    ]);
  }

  delete(lease: LeaseKey): void {
    const expectedRevision = this.revisionOf(lease);
    this.run(this.partitionOf(lease), [{ kind: "delete", lease, expectedRevision, expectedUid: undefined }]);
  }

  /** Takes a lease; gives the token. */
  acquire(lease: LeaseKey, holder = "a"): bigint {
    const claims = [{ lease, mode: "exclusive", units: 1 } as const];
    this.run(this.partitionOf(lease), [{ kind: "acquire", claims, claimant: { holder }, sendNumber: 1n }]);
    return this.ownerOf(this.partitionOf(lease)).state.leases.get(lease)?.lastToken ?? 0n;
  }

  release(lease: LeaseKey, token: bigint): void {
    this.run(this.partitionOf(lease), [{ kind: "release", items: [{ lease, token }] }]);
  }

  register(lease: LeaseKey, candidate: string, more: Partial<CandidateSpec> = {}): void {
    const spec = candidateSpec(more);
    this.run(this.partitionOf(lease), [{ kind: "registerCandidate", lease, candidate, spec }]);
  }

  revisionOf(lease: LeaseKey): bigint {
    return this.ownerOf(this.partitionOf(lease)).state.leases.get(lease)?.revision.sequence ?? 0n;
  }

  partitionOf(lease: LeaseKey): number {
    return partitionOf(lease, this.partitions);
  }

  ownerOf(partition: number): OwnedPartition {
    const owner = this.#owners[partition];
    if (owner === undefined) throw new Error(`there is no partition ${partition}`);
    return owner;
  }

  /** Makes and announces a snapshot, and purges the log below it. */
  async compact(partition: number): Promise<void> {
    const { state } = this.ownerOf(partition);
    const { lastSequence: sequence } = state;
    const header = { incarnationId, writer: "store-1", wallMs: this.clock.wall(), previous: undefined };
    const bytes = encodeSnapshot(takeSnapshot(state), header);
    const reference = { ...(await this.snapshots.put(`${partition}/${sequence}`, bytes)), sequence };
    this.#references[partition] = reference;
    this.run(partition, [{ kind: "announceSnapshot", snapshot: reference }]);
    this.log.purge(partition, sequence);
  }

  /** Starts a reader and lets it catch up. */
  async read(
    options: {
      readonly keptChanges?: number;
      readonly leastPastMs?: number;
      readonly listener?: LogReaderListener;
    } = {},
  ): Promise<{ readonly reader: LogReader; readonly transport: MemoryTransport }> {
    const { clock, partitions, snapshots } = this;
    const transport = this.log.connect("reader");
    const ports = { clock, random: seededRandom(1), transport, snapshots, codec: logDecoder };
    const { keptChanges = 1_000, leastPastMs, listener } = options;
    const reader = new LogReader(ports, { incarnationId, partitions, keptChanges, leastPastMs }, listener);
    const started = reader.start();
    await this.settle();
    await started;
    await this.settle();
    return { reader, transport };
  }

  /** Lets what is under way arrive. */
  async settle(): Promise<void> {
    await this.clock.advance(1);
    await this.clock.advance(1);
  }

  #append(owned: OwnedPartition): void {
    const { batch, state } = owned;
    const { epoch, partition } = state;
    this.#batches += 1;
    const batchId = this.#batches.toString(16).padStart(32, "0");
    const snapshot = this.#references[partition];
    const { position, prev, prevBatchId } = batch;
    const header = { partition, epoch, prev, prevBatchId, wallMs: position.wallMs, snapshot };
    const payload = encodeBatch({ ...header, batchId, writer: "store-1", incarnationId, events: batch.events });
    const outcome = this.log.append(partition, payload, batch.prev);
    if (outcome.kind !== "acked") throw new Error(`the append was refused: ${outcome.kind}`);
    commitBatch(owned, outcome.sequence, batchId);
  }
}

/** A legal candidate, changed by what a test cares about. */
export function candidateSpec(more: Partial<CandidateSpec> = {}): CandidateSpec {
  return { ...defaultCandidateSpec, binaryVersion: "1.20.0", compatibilityVersion: "1.20.0", ...more };
}
