import { deserialize, serialize } from "node:v8";
import {
  type Claim,
  type Command,
  type CommandOf,
  defaultSettings,
  type PartitionState,
  type Reply,
  type Settings,
  testTimingPolicy,
} from "@tenure/core";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { BatchWriter } from "@tenure/log";
import { type MemoryFaults, MemoryLog, MemorySnapshots, type MemoryTransport } from "@tenure/log/memory";
import { CommandCall, ReadCall } from "../call.ts";
import type { ReplicaOptions } from "../options.ts";
import type { AppliedBatch, Role } from "../partition-listener.ts";
import type { LogCodec, ReplicaPorts } from "../ports.ts";
import { StoreReplica } from "../store-replica.ts";

/** Batches and snapshots as plain structures: what the wire looks like is another's test. */
const codec: LogCodec = {
  encodeBatch: (batch) => new Uint8Array(serialize(batch)),
  decodeBatch: (sequence, payload) => ({ ...deserialize(payload), sequence }),
  batchIdOf: (payload) => deserialize(payload).batchId,
  prevBatchIdOf: (payload) => deserialize(payload).prevBatchId,
  *snapshotChunks(snapshot) {
    yield new Uint8Array(serialize(snapshot));
  },
  *decodeSnapshot(bytes) {
    yield;
    return deserialize(bytes);
  },
};

/** Settings with leases of a second or so. */
export const quickSettings: Settings = {
  ...defaultSettings,
  policy: testTimingPolicy,
  timing: { leaseDurationMs: 1_000, usableTermMs: 600, renewIntervalMs: 200, requestTimeoutMs: 100 },
};

/** How long the listener of each replica lets it rest; the log in memory tells everything at once all the same. */
export const allowedRestMs = 25;

/** One replica of a world, with what it told. */
export interface Member {
  readonly replica: StoreReplica;
  readonly transport: MemoryTransport;
  readonly applied: AppliedBatch[];
  readonly roles: Role[];
  readonly faults: string[];
  /** What a test wants to be told. */
  onOwner: () => void;
  onApplied: () => void;
}

/** Replicas of one partition over a log in memory, on a clock that tests move. */
export class World implements AsyncDisposable {
  readonly clock = new FakeClock({ startMs: 1_000 });
  readonly log: MemoryLog;
  readonly snapshots = new MemorySnapshots();
  readonly members: Member[] = [];

  constructor(faults: MemoryFaults = {}) {
    this.log = new MemoryLog({ clock: this.clock, faults, firstSequence: 1_000n });
  }

  /** Starts a replica and lets it follow. */
  async join(instance: string, options: Partial<ReplicaOptions> = {}): Promise<Member> {
    const transport = this.log.connect(instance);
    const random = seededRandom(this.members.length + 1);
    const ports: ReplicaPorts = {
      clock: this.clock,
      random,
      transport,
      snapshots: this.snapshots,
      codec,
      writerOf: (partition) => {
        const idOf = (payload: Uint8Array) => codec.batchIdOf(payload) ?? "";
        const { clock } = this;
        const ids = { batchIdOf: idOf, prevBatchIdOf: codec.prevBatchIdOf };
        return new BatchWriter(transport, { partition, clock, random, requestTimeoutMs: 100, ...ids });
      },
    };
    const applied: AppliedBatch[] = [];
    const roles: Role[] = [];
    const faults: string[] = [];
    const replica = new StoreReplica(
      ports,
      { ...usualOptions, instance, ...options },
      {
        onRole: (_, role) => roles.push(role),
        onOwner: () => member.onOwner(),
        onApplied: (batch) => {
          applied.push(batch);
          member.onApplied();
        },
        onCommitted: () => {},
        onReloaded: () => {},
        onFault: (_, doing, fault) => faults.push(`${doing}: ${fault instanceof Error ? fault.message : fault}`),
        onTailed: () => {},
        restMs: () => allowedRestMs,
      },
    );
    const member: Member = { replica, transport, applied, roles, faults, onOwner: () => {}, onApplied: () => {} };
    this.members.push(member);
    await Promise.all([replica.start(), this.run(10)]);
    await this.run(10);
    return member;
  }

  /** Lets time pass millisecond by millisecond, so that what one instant causes can cause more in the next. */
  async run(forMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < forMs; passedMs += 1) await this.clock.advance(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { replica } of this.members) await replica[Symbol.asyncDispose]();
  }
}

/** How replicas of a test behave unless it says otherwise. */
export const usualOptions: ReplicaOptions = {
  instance: "",
  incarnationId: "incarnation",
  partitions: 1,
  settings: quickSettings,
  queuedCallsPerPartition: 1_000,
  commandsPerBatch: 100,
  snapshotAfterBatches: 1_000_000,
  snapshotAfterBytes: 1_000_000_000,
  tombstoneRetentionMs: 3_600_000,
};

/** Sends a command to a replica's owner and gives the plain reply. */
export function send({ replica }: Member, command: Command, signal?: AbortSignal): Promise<Reply> {
  return replica.at(0).submit(new CommandCall(command, (reply) => structuredClone(reply)), signal).promise;
}

/** Reads linearizably. */
export function readAt<Answer>({ replica }: Member, read: (state: PartitionState) => Answer): Promise<Answer> {
  return replica.at(0).submit(new ReadCall(({ state }) => read(state))).promise;
}

/** A claim of one lease by a holder who is its own principal. */
export function claim(holder: string, lease: string, more: Partial<CommandOf<"acquire">> = {}): CommandOf<"acquire"> {
  const claims: Claim[] = [{ lease, mode: "exclusive", units: 1 }];
  const timing = quickSettings.timing;
  return { kind: "acquire", principal: holder, claims, claimant: { holder, timing }, sendNumber: 1n, ...more };
}

/** A claim that waits. */
export function waitingClaim(holder: string, lease: string, attempt = 1n): CommandOf<"acquire"> {
  return claim(holder, lease, {
    sendNumber: 0n,
    attempt: { clientId: holder, number: attempt, settledBelow: 0n },
    wait: { timeoutMs: undefined, ageMs: 0, beatNumber: 0n },
  });
}

/** The token of a granted reply. */
export function tokenOf(reply: Reply): bigint {
  const token = reply.kind === "granted" ? reply.grants[0]?.token : undefined;
  if (token === undefined) throw new Error(`not granted but ${reply.kind}`);
  return token;
}
