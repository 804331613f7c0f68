import { durationFromMs, IdentityProfile } from "@tenure/contracts";
import {
  type CommandBody,
  type Concerns,
  commitBatch,
  defaultLeaseSpec,
  emptyPartition,
  execute,
  executePackedRenewal,
  followBatch,
  identityAnnotations,
  labelsOf,
  leaseKey,
  type OwnedPartition,
  openBatch,
  ownPartition,
  type PartitionState,
  type Reply,
} from "@tenure/core";
import { FakeClock } from "@tenure/kernel";
import { WatchHub } from "@tenure/reader";
import type { DirectorySource } from "../directory/directory.ts";

export const namespace = "tenure-identities";
export const beatMs = 10_000;
export const validityMs = 3_600_000;

/** An owner of the one partition and a replica that reads it, on a clock that tests move. */
export class IdentityWorld implements DirectorySource {
  readonly clock = new FakeClock({ startMs: 1_000 });
  readonly partitions = 1;
  readonly hub: WatchHub;
  readonly #owned: OwnedPartition;
  readonly #state: PartitionState;
  #sequence = 1_000n;

  constructor() {
    const { clock } = this;
    const keeps: Concerns = ({ lease }) => lease.startsWith(`${namespace}/`);
    this.hub = new WatchHub({ clock, partitions: 1, keptChanges: 1_000, keeps, pendingBatches: 10 });
    this.#owned = ownPartition(emptyPartition(0, clock.now()), clock.now(), clock.wall());
    this.#state = emptyPartition(0, clock.now());
    this.hub.onFollowing(this.#state);
    this.run({ kind: "takeOver", epoch: 1n, owner: "store", isHandedOver: false });
  }

  stateOf(): PartitionState {
    return this.#state;
  }

  /** Decides a command in a batch of its own, which the reader sees at once. */
  run(body: CommandBody, principal = "test"): Reply {
    openBatch(this.#owned, this.clock.now(), this.clock.wall());
    const reply = execute(this.#owned, { ...body, principal }, this.clock.now());
    this.#commit();
    return reply;
  }

  /** Registers an instance; gives its token. */
  register(id: string, component = "worker"): bigint {
    const profile = IdentityProfile.fromPartial({
      component,
      beatInterval: durationFromMs(beatMs),
      validity: durationFromMs(validityMs),
    });
    return this.hold(id, id, profile);
  }

  /** Registers an instance with this profile, held by this process of it; gives its token. */
  hold(id: string, holder: string, profile: IdentityProfile): bigint {
    const text = Buffer.from(IdentityProfile.encode(profile).finish()).toString("base64");
    const spec = {
      ...defaultLeaseSpec,
      leaseDurationMs: validityMs,
      labels: labelsOf(profile),
      annotations: { [identityAnnotations.profile]: text },
    };
    const lease = leaseKey(namespace, id);
    const claims = [{ lease, mode: "exclusive", units: 1, spec } as const];
    return tokenOf(this.run({ kind: "acquire", claims, claimant: { holder }, sendNumber: 1n }));
  }

  /** Another process takes the id; gives its token. */
  steal(id: string, holder: string): bigint {
    const lease = leaseKey(namespace, id);
    const expectedRevision = this.#state.leases.get(lease)?.revision.sequence ?? 0n;
    return tokenOf(this.run({ kind: "steal", lease, expectedRevision, claimant: { holder }, sendNumber: 1n }));
  }

  /** Beats for instances, in packed form. */
  beat(...ids: readonly string[]): void {
    openBatch(this.#owned, this.clock.now(), this.clock.wall());
    const holdIds = ids.flatMap(
      (id) => this.#owned.state.leases.get(leaseKey(namespace, id))?.holds.map((one) => one.id) ?? [],
    );
    executePackedRenewal(this.#owned, { principal: "test", holdIds, sendNumber: 1n }, this.clock.now());
    this.#commit();
  }

  #commit(): void {
    const { batch, state } = this.#owned;
    this.#sequence += 1n;
    const sequence = this.#sequence;
    const batchId = String(sequence).padStart(32, "0");
    const prevBatchId = state.lastBatchId;
    commitBatch(this.#owned, sequence, batchId);
    const { events, position, prev } = batch;
    const { epoch, partition } = state;
    const logged = { partition, epoch, prev, prevBatchId, batchId, sequence, wallMs: position.wallMs, events };
    const followed = followBatch(this.#state, logged, this.clock.now());
    if (followed.kind !== "applied") throw new Error(`the reader says ${followed.kind}`);
    this.hub.onApplied({ partition, sequence, events, state: this.#state });
    this.hub.onTailed(sequence, true);
  }
}

function tokenOf(reply: Reply): bigint {
  if (reply.kind !== "granted") throw new Error(`not granted: ${reply.kind}`);
  return reply.grants[0]?.token ?? 0n;
}
