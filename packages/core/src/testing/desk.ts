import { execute, executePackedRenewal } from "../execute.ts";
import { noteAppendAcked } from "../expiry-guard.ts";
import { followBatch } from "../follow.ts";
import type { LeaseKey } from "../key.ts";
import { commitBatch, type OpenBatch, type OwnedPartition, openBatch, ownPartition } from "../partition/batch.ts";
import type { Claim, Claimant, Command, CommandBody, CommandHeader, CommandOf } from "../partition/command.ts";
import type { Grant } from "../partition/outcome.ts";
import type { Reply } from "../partition/reply.ts";
import { defaultSettings, type Settings } from "../partition/settings.ts";
import { emptyPartition, type PartitionState } from "../partition/state.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { loadSnapshot } from "../snapshot/load.ts";
import { takeSnapshot } from "../snapshot/take.ts";
import { type Settled, settleWaiters } from "../waiting/settle.ts";

/** Where the test log begins: far above small token numbers, as a real stream does. */
export const firstSequence = 1_000n;

/** An owner with a log of its own, a clock that tests move, and a follower that applies every batch. */
export class Desk {
  now = 10_000;
  wallMs = 1_700_000_000_000;
  sequence = firstSequence;
  owned: OwnedPartition;
  follower: PartitionState;
  settled: Settled[] = [];
  #epoch = 0n;

  constructor(settings: Settings = defaultSettings) {
    this.owned = ownPartition(emptyPartition(0, this.now), this.now, this.wallMs);
    this.follower = emptyPartition(0, this.now);
    this.takeOver();
    this.run({ kind: "changeSettings", settings }, "owner");
  }

  get state(): PartitionState {
    return this.owned.state;
  }

  /** Begins a new epoch, alone in its batch. */
  takeOver(): void {
    this.#epoch = this.state.epoch + 1n;
    this.run({ kind: "takeOver", epoch: this.#epoch, owner: `owner-${this.#epoch}`, isHandedOver: false }, "owner");
  }

  /** Decides commands in one batch, grants who waits, commits, and lets the follower apply it. */
  batch(...commands: readonly Command[]): readonly Reply[] {
    const batch = openBatch(this.owned, this.now, this.wallMs);
    const replies = commands.map((command) => execute(this.owned, command, this.now));
    this.settled.push(...settleWaiters(this.owned, this.now));
    this.#commit(batch);
    return replies;
  }

  /** Decides one command in its own batch; the header's principal is a shorthand for the whole header. */
  run(body: CommandBody, header: string | CommandHeader): Reply {
    const given = typeof header === "string" ? { principal: header } : header;
    const [reply] = this.batch({ ...body, ...given });
    if (reply === undefined) throw new Error("no reply");
    return reply;
  }

  /** Packed renewals in a batch of their own. */
  renewPacked(principal: string, holdIds: readonly number[], sendNumber = 1n) {
    openBatch(this.owned, this.now, this.wallMs);
    const result = executePackedRenewal(this.owned, { principal, holdIds, sendNumber }, this.now);
    this.#commit(this.owned.batch);
    return result;
  }

  #commit({ events, position, prev, prevBatchId }: OpenBatch): void {
    this.sequence += 3n;
    const batchId = `batch-${this.sequence}`;
    commitBatch(this.owned, this.sequence, batchId);
    this.owned.guard = noteAppendAcked(this.owned.guard, this.now, this.now, this.state.settings.timing);
    const { epoch, partition } = this.state;
    const { sequence, wallMs } = position;
    // The follower sees each batch a little later, as a real one does, with its renewals apart from the other events.
    const renewals = events.filter(({ kind }) => kind === "renewed");
    const others = events.filter(({ kind }) => kind !== "renewed");
    const isFirst = sequence % 2n === 0n && others[0]?.kind !== "ownerChanged";
    const logged = isFirst ? [...renewals, ...others] : [...others, ...renewals];
    const batch = { partition, epoch, prev, prevBatchId, sequence, batchId, wallMs, events: logged };
    const followed = followBatch(this.follower, batch, this.now + 5);
    if (followed.kind !== "applied") throw new Error(`the follower says ${followed.kind}`);
  }

  /** Moves the clocks; the owner then proves with an empty append that its store is there. */
  advance(ms: number): void {
    this.now += ms;
    this.wallMs += ms;
    this.batch();
  }

  /** A claim of one lease that must be granted. */
  take(holder: string, lease: LeaseKey, more: Partial<CommandOf<"acquire">> & { claim?: Partial<Claim> } = {}): Grant {
    const reply = this.run(claimOf(holder, lease, more), { principal: holder, ...headerOf(more) });
    if (reply.kind !== "granted" || reply.grants[0] === undefined) throw new Error(`not granted: ${reply.kind}`);
    return reply.grants[0];
  }

  /** A claim of one lease, whatever becomes of it. */
  try(holder: string, lease: LeaseKey, more: Partial<CommandOf<"acquire">> & { claim?: Partial<Claim> } = {}): Reply {
    return this.run(claimOf(holder, lease, more), { principal: holder, ...headerOf(more) });
  }

  /** The record of a name that must be known. */
  record(lease: LeaseKey): LeaseRecord {
    const record = this.state.leases.get(lease);
    if (record === undefined) throw new Error(`nothing is kept under ${lease}`);
    return record;
  }

  /** Replaces the owner by the follower, which takes over. */
  failOver(): void {
    this.now += 5;
    const { follower, state } = this;
    this.owned = ownPartition(follower, this.now, this.wallMs);
    this.follower = state;
    this.takeOver();
  }

  /** Replaces the owner by a replica that starts from a snapshot. */
  restart(): void {
    this.owned = ownPartition(loadSnapshot(takeSnapshot(this.state), this.now), this.now, this.wallMs);
    this.takeOver();
  }
}

/** The body of a claim by one holder of one lease, exclusive unless said otherwise. */
export function claimOf(
  holder: string,
  lease: LeaseKey,
  more: Partial<CommandOf<"acquire">> & { claim?: Partial<Claim> } = {},
): CommandOf<"acquire"> {
  const { claim, ...rest } = more;
  const claimant: Claimant = { holder };
  const claims = [{ lease, mode: "exclusive", units: 1, ...claim } as const];
  return { kind: "acquire", claims, claimant, sendNumber: 1n, principal: holder, ...rest };
}

function headerOf({ attempt, isDryRun, reason, principal }: Partial<CommandHeader>): Partial<CommandHeader> {
  return {
    ...(attempt === undefined ? undefined : { attempt }),
    ...(isDryRun === undefined ? undefined : { isDryRun }),
    ...(reason === undefined ? undefined : { reason }),
    ...(principal === undefined ? undefined : { principal }),
  };
}
