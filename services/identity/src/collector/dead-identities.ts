import { type CollectionItem, CollectionOutcome, durationFromMs, leaseKeyToWire } from "@tenure/contracts";
import { type CollectionDecision, departureOf, elapsedMs, identityAnnotations, type LeaseRecord } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { Asking } from "@tenure/session";
import type { Directory } from "../directory/directory.ts";
import { expectationOf } from "../store/identity-store.ts";
import type { CollectorPorts } from "./collector-ports.ts";
import { inChunks, type Round } from "./round.ts";

type Ports = Pick<CollectorPorts, "clock" | "departures" | "directory" | "listener" | "policy" | "store">;

/** A departure that its own replica should have finished by now is taken over after this long. */
const orphanedMs = 2_000;

const reason = "collected: not heard of for its validity and the grace";

/** The identities whose validity is over, and since when. */
export function expiredOf(directory: Directory): readonly { readonly id: string; readonly sinceMs: number }[] {
  const expired: { id: string; sinceMs: number }[] = [];
  for (const id of directory.ended) {
    const sinceMs = directory.expiredSinceMs(id);
    if (sinceMs !== undefined) expired.push({ id, sinceMs });
  }
  return expired;
}

/** Takes away identities that are dead or have left, with what depends on them. */
export class DeadIdentities {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** How soon departures want another look. */
  get nextMs(): number {
    return this.#departed().length > 0 ? orphanedMs : Number.POSITIVE_INFINITY;
  }

  /** Finishes departures that are in the log and that nobody has finished: their replica died, or could not. */
  async finishDepartures(round: Round): Promise<void> {
    const { clock, departures, listener } = this.#ports;
    const due = this.#departed().filter(({ record }) => elapsedMs(record.revision, clock.now()) >= orphanedMs);
    await inChunks(due, round, ({ id }) =>
      departures.finish(id, "departed", round.asking).catch((fault: unknown) => {
        listener.onFault("finish a departure", fault);
      }),
    );
  }

  /** Collects one that is due. */
  async collect(id: string, { asking, isDryRun }: Round): Promise<CollectionItem> {
    const { clock, directory, listener, policy } = this.#ports;
    const sinceMs = directory.expiredSinceMs(id);
    const expiredForMs = sinceMs === undefined ? 0 : Math.max(0, clock.now() - sinceMs);
    const outcome = await this.#outcomeOf(id, isDryRun, asking);
    if (!isDryRun && outcome === CollectionOutcome.COLLECTED) {
      listener.onCollected("identity", id, Math.max(0, expiredForMs - policy.graceMs));
    } else if (!isDryRun && outcome === CollectionOutcome.SPARED) {
      listener.onSpared("identity", id);
    }
    return itemOf(id, outcome, expiredForMs);
  }

  /** Those that are dead and are not collected in this round. */
  left({ due, holdBack }: CollectionDecision): readonly CollectionItem[] {
    const { clock, directory } = this.#ports;
    const isDue = new Set(due);
    const outcome = holdBack === undefined ? CollectionOutcome.IN_GRACE : CollectionOutcome.HELD_BACK;
    return expiredOf(directory)
      .filter(({ id }) => !isDue.has(id))
      .map(({ id, sinceMs }) => itemOf(id, outcome, Math.max(0, clock.now() - sinceMs)));
  }

  #departed(): readonly { readonly id: string; readonly record: LeaseRecord }[] {
    const { directory } = this.#ports;
    return [...directory.ended].flatMap((id) => {
      const record = directory.recordOf(id);
      return record !== undefined && departureOf(record) !== undefined ? [{ id, record }] : [];
    });
  }

  async #outcomeOf(id: string, isDryRun: boolean, asking: Asking): Promise<CollectionOutcome> {
    const { departures, directory, listener, policy, store } = this.#ports;
    const record = directory.recordOf(id);
    if (record === undefined) return CollectionOutcome.ALREADY_GONE;
    if (directory.expiredSinceMs(id) === undefined) return CollectionOutcome.SPARED;
    if (isDryRun) return CollectionOutcome.COLLECTED;
    try {
      if (departures.hasDependents(record)) return await this.#collectWithDependents(id, record, asking);
      const subject = { subject: { lease: record.key }, isDependent: false, graceMs: policy.graceMs, reason };
      const isCollected = await store.collect({ ...subject, ...expectationOf(record) }, asking);
      if (isCollected) return CollectionOutcome.COLLECTED;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "NOT_FOUND") return CollectionOutcome.ALREADY_GONE;
      if (!(thrown instanceof Fault) || thrown.code !== "ABORTED") listener.onFault("collect an identity", thrown);
    }
    return directory.recordOf(id) === undefined ? CollectionOutcome.ALREADY_GONE : CollectionOutcome.SPARED;
  }

  /** The departure is written on the record first; then what depends on it goes, then the record (rule 23). */
  async #collectWithDependents(id: string, record: LeaseRecord, asking: Asking): Promise<CollectionOutcome> {
    // Before its term has ended in the log it is still its process's: the owner has not said that it is over.
    if (record.holds.length > 0) return CollectionOutcome.SPARED;
    const { lease: marked } = await this.#ports.store.update(
      {
        lease: leaseKeyToWire(record.key),
        expectedRevision: record.revision.sequence,
        spec: { annotations: { ...record.spec.annotations, [identityAnnotations.departed]: "collected" } },
        updateMask: ["annotations"],
        note: { reason },
      },
      asking,
    );
    await this.#ports.departures.reach(marked?.revision ?? 0n);
    await this.#ports.departures.finish(id, reason, asking);
    return CollectionOutcome.COLLECTED;
  }
}

function itemOf(id: string, outcome: CollectionOutcome, expiredForMs: number): CollectionItem {
  return { subject: { $case: "identity", value: id }, outcome, expiredFor: durationFromMs(Math.round(expiredForMs)) };
}
