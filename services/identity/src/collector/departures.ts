import { candidateKeyToWire, leaseKeyToWire } from "@tenure/contracts";
import {
  type Dependent,
  departureOf,
  existingLease,
  type Hold,
  type LeaseKey,
  type LeaseRecord,
  nameOf,
  type PartitionState,
  partitionOf,
} from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { Asking } from "@tenure/session";
import type { DependentIndex } from "../directory/dependent-index.ts";
import type { Directory } from "../directory/directory.ts";
import { profileOf } from "../record/identity-to-wire.ts";
import { profileFromWire } from "../record/profile-record.ts";
import { expectationOf, type IdentityStore } from "../store/identity-store.ts";

/** What removals stand on. */
export interface DeparturePorts {
  readonly store: IdentityStore;
  readonly directory: Directory;
  readonly dependents: DependentIndex;
  readonly model: {
    readonly partitions: number;
    stateOf(partition: number): PartitionState;
    /** Resolves when everything up to a log position has been read. */
    reach(revision: bigint): Promise<void>;
  };
  /** Told of each thing that went with an identity. */
  onRemoved(what: "lease" | "term" | "candidate", identity: string, subject: string): void;
}

/** Times that one removal is tried when its record changed in between; then it is the next round's. */
const mostTries = 5;

/**
 * Finishes departures: first what went with the identity, then its record. The departure itself is in the log before,
 * and the record keeps what depends on it until all of that is gone, so whoever comes next goes on from the record
 * alone. Every removal expects the revision that it saw: done twice it does nothing (rule 23).
 */
export class Departures {
  readonly #ports: DeparturePorts;

  constructor(ports: DeparturePorts) {
    this.#ports = ports;
  }

  /** Whether something must go with an identity before its record may. */
  hasDependents(record: LeaseRecord): boolean {
    const { candidates, leases } = this.#ports.dependents.of(nameOf(record.key));
    return profileOf(record).profile.dependents.length + candidates.size + leases.size > 0;
  }

  /** Waits until this replica has read up to a log position. */
  reach(revision: bigint): Promise<void> {
    return this.#ports.model.reach(revision);
  }

  /** Removes what depended on an identity that has departed, and then its record. False: it is not finished yet. */
  async finish(id: string, reason: string, asking: Asking): Promise<boolean> {
    const record = this.#ports.directory.recordOf(id);
    if (record === undefined) return true;
    if (departureOf(record) === undefined) return false;
    const isDeparted = () => this.#isDeparted(id, record.lastToken);
    for (const dependent of this.#dependentsOf(id, record)) {
      if (!(await this.#remove(id, dependent, reason, asking, isDeparted))) return false;
    }
    return await this.#removeRecord(id, reason, asking);
  }

  /** Whether the identity is still in the life that departed: what a new life has registered is not to go with it. */
  #isDeparted(id: string, lastToken: bigint): boolean {
    const record = this.#ports.directory.recordOf(id);
    return record !== undefined && record.lastToken === lastToken && departureOf(record) !== undefined;
  }

  #dependentsOf(id: string, record: LeaseRecord): readonly Dependent[] {
    const { candidates, leases } = this.#ports.dependents.of(id);
    const named = profileFromWire(profileOf(record).profile).dependents;
    const found: Dependent[] = [...named];
    for (const lease of leases) if (!isNamed(named, lease)) found.push({ kind: "lease", lease });
    for (const lease of candidates) {
      for (const { name, spec } of this.#recordOf(lease)?.candidates?.values() ?? []) {
        if (spec.identity === id) found.push({ kind: "candidate", lease, candidate: name });
      }
    }
    return found;
  }

  async #remove(
    id: string,
    dependent: Dependent,
    reason: string,
    asking: Asking,
    isDeparted: () => boolean,
  ): Promise<boolean> {
    for (let tries = 0; tries < mostTries && isDeparted(); tries += 1) {
      const isDone =
        dependent.kind === "candidate"
          ? await this.#removeCandidate(id, dependent, reason, asking)
          : await this.#removeLease(id, dependent.lease, reason, asking);
      if (isDone) return true;
      // It changed in between: what it is now decides.
      await this.#ports.model.reach(await this.#ports.store.freshRevision(dependent.lease, asking));
    }
    return false;
  }

  async #removeCandidate(
    id: string,
    { candidate: name, lease }: Extract<Dependent, { readonly kind: "candidate" }>,
    reason: string,
    asking: Asking,
  ): Promise<boolean> {
    const candidate = this.#recordOf(lease)?.candidates?.get(name);
    // One that says it belongs to another, or was registered by another, is not this identity's to take along.
    if (candidate === undefined || (candidate.spec.identity !== id && candidate.spec.identity !== "")) return true;
    if (candidate.spec.identity === "" && candidate.principal !== this.#principalOf(id)) return true;
    const isCollected = await this.#ports.store.collect(
      {
        subject: { candidate: candidateKeyToWire(lease, name) },
        expectedRevision: candidate.revision.sequence,
        expectedRenewalRevision: candidate.renewal.sequence,
        isDependent: true,
        graceMs: 0,
        reason,
      },
      asking,
    );
    if (isCollected) this.#ports.onRemoved("candidate", id, `${lease}/${name}`);
    return isCollected;
  }

  /**
   * A lease that the identity named goes; of one that it merely holds, only the term does. A running term runs out by
   * itself (rule 15). One that others hold stays.
   */
  async #removeLease(id: string, lease: LeaseKey, reason: string, asking: Asking): Promise<boolean> {
    const { model } = this.#ports;
    const record = existingLease(model.stateOf(partitionOf(lease, model.partitions)), lease);
    if (record === undefined) return true;
    const own = record.holds.filter((hold) => this.#isOf(id, hold));
    const isOthers = own.length < record.holds.length;
    if (isNamed(this.#namedBy(id), lease) && !isOthers) {
      const subject = { subject: { lease }, isDependent: true, graceMs: 0, reason };
      const isCollected = await this.#ports.store.collect({ ...subject, ...expectationOf(record) }, asking);
      if (isCollected) this.#ports.onRemoved("lease", id, lease);
      return isCollected;
    }
    const running = own.find(({ revocation }) => revocation === undefined);
    if (running === undefined) return true;
    const isRevoked = await this.#revoke(record, running.token, reason, asking);
    if (isRevoked) this.#ports.onRemoved("term", id, lease);
    return isRevoked && own.length === 1;
  }

  async #revoke(record: LeaseRecord, token: bigint, reason: string, asking: Asking): Promise<boolean> {
    try {
      await this.#ports.store.revoke(
        { lease: leaseKeyToWire(record.key), expectedRevision: record.revision.sequence, token, note: { reason } },
        asking,
      );
      return true;
    } catch (thrown) {
      if (thrown instanceof Fault && (thrown.code === "ABORTED" || thrown.code === "NOT_FOUND")) return false;
      if (thrown instanceof Fault && thrown.code === "FAILED_PRECONDITION") return false;
      throw thrown;
    }
  }

  async #removeRecord(id: string, reason: string, asking: Asking): Promise<boolean> {
    const { directory, store } = this.#ports;
    const record = directory.recordOf(id);
    if (record === undefined) return true;
    if (departureOf(record) === undefined) return false;
    const subject = { subject: { lease: record.key }, isDependent: false, graceMs: 0, reason };
    return await store.collect({ ...subject, ...expectationOf(record) }, asking);
  }

  #isOf(id: string, { details, holder }: Hold): boolean {
    return details?.identity === id || holder === this.#holderOf(id);
  }

  #namedBy(id: string): readonly Dependent[] {
    const record = this.#ports.directory.recordOf(id);
    return record === undefined ? [] : profileFromWire(profileOf(record).profile).dependents;
  }

  #holderOf(id: string): string {
    return this.#lastGrant(id)?.holder ?? id;
  }

  #principalOf(id: string): string | undefined {
    return this.#lastGrant(id)?.author;
  }

  #lastGrant(id: string) {
    return this.#ports.directory.recordOf(id)?.history.findLast(({ kind }) => kind === "granted");
  }

  #recordOf(lease: LeaseKey): LeaseRecord | undefined {
    const { model } = this.#ports;
    return model.stateOf(partitionOf(lease, model.partitions)).leases.get(lease);
  }
}

function isNamed(dependents: readonly Dependent[], lease: LeaseKey): boolean {
  return dependents.some((dependent) => dependent.kind === "lease" && dependent.lease === lease);
}
