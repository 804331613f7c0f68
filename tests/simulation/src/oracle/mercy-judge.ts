import type { Event } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";
import type { Term } from "./log-judge.ts";
import { demand } from "./violation.ts";
import type { WriterSight } from "./writer-sight.ts";

interface Since {
  readonly batch: StoredBatch;
  readonly forMs: number;
}

/**
 * Judges how terms end that somebody wants to end, and what follows an end: nobody but the holder frees a term at once
 * (rule 15), a marked term is renewed for the drain bound and not longer (rule 20), and a lock delay is waited for.
 */
export class MercyJudge {
  readonly #sight: WriterSight;
  /** Leases that were deleted while somebody held them. */
  readonly #deleted = new Set<string>();
  readonly #revoked = new Set<string>();
  readonly #marks = new Map<string, Since>();
  readonly #delays = new Map<string, Since[]>();

  constructor(sight: WriterSight) {
    this.#sight = sight;
  }

  /** Takes an event with the terms that run on its lease before it. */
  judge(batch: StoredBatch, event: Event, running: readonly Term[]): void {
    switch (event.kind) {
      case "leaseDeleted":
        if (!event.isRemoved) this.#revoked.add(`${event.lease}#${event.token}`);
        else if (running.length > 0) this.#deleted.add(event.lease);
        return;
      case "leaseRestored":
        this.#deleted.delete(event.lease);
        return;
      case "endOfTermMarked":
        this.#mark(batch, event.lease, event.endOfTerm);
        return;
      case "endOfTermCleared":
        this.#marks.delete(`${event.lease}#${event.token}`);
        return;
      case "holdGranted":
      case "holdPending":
        this.#expectFree(batch, event.lease, running);
        this.#expectDelayed(batch, event.lease, "given away");
        return;
      case "tombstoneRemoved":
        this.#expectDelayed(batch, event.lease, "forgotten");
        return;
      case "guardChanged":
        this.#expectNotRevoked(batch, event.lease, event.token, "written under");
        return;
      case "holdEnded":
        this.#end(batch, event, running);
        return;
      default:
        return;
    }
  }

  /** A term was renewed. */
  renewed(batch: StoredBatch, { hold: { token }, lease }: Term): void {
    this.#expectNotRevoked(batch, lease, token, "renewed");
    const isRestored = batch.events.some((event) => event.kind === "leaseRestored" && event.lease === lease);
    const what = `${lease} (token ${token}) was renewed in batch ${batch.sequence}`;
    demand(isRestored || !this.#deleted.has(lease), "rule 15", () => `${what} and stays deleted`);
    const mark = this.#marks.get(`${lease}#${token}`);
    // Renewals are judged before the other events of their batch, which may have cleared the mark first.
    const isCleared = batch.events.some((event) => event.kind === "endOfTermCleared" && event.token === token);
    if (mark === undefined || isCleared) return;
    const sinceMs = this.#sight.leastMs(batch, mark.batch);
    demand(!(sinceMs >= mark.forMs), "rule 20", () => `${what}, ${sinceMs} ms after it was marked, not ${mark.forMs}`);
  }

  #mark(batch: StoredBatch, lease: string, mark: { readonly token: bigint; readonly drainBoundMs: number }): void {
    const key = `${lease}#${mark.token}`;
    // A second mark gives no more time.
    this.#marks.set(key, { batch: this.#marks.get(key)?.batch ?? batch, forMs: mark.drainBoundMs });
  }

  #end(batch: StoredBatch, event: Extract<Event, { kind: "holdEnded" }>, running: readonly Term[]): void {
    const { author, lease, lockDelayMs, token } = event;
    const term = running.find(({ hold }) => hold.token === token);
    const dueMs = author === "" ? (term?.hold.lockDelayMs ?? 0) : 0;
    const what = `${lease} (token ${token}) ended in batch ${batch.sequence}`;
    demand(lockDelayMs === dueMs, "rule 16", () => `${what} with a lock delay of ${lockDelayMs} ms, not ${dueMs}`);
    if (lockDelayMs > 0) this.#delays.set(lease, [...(this.#delays.get(lease) ?? []), { batch, forMs: lockDelayMs }]);
    if (running.length <= 1) this.#deleted.delete(lease);
  }

  #expectFree({ sequence }: StoredBatch, lease: string, running: readonly Term[]): void {
    const isLingering = this.#deleted.has(lease) && running.length > 0;
    const what = () =>
      `${lease} was given away in batch ${sequence} while a term from before its deletion may be acting`;
    demand(!isLingering, "rule 15", what);
  }

  /** Every lock delay of the lease has passed on the writer's clock. Then it has for everybody who comes after. */
  #expectDelayed(batch: StoredBatch, lease: string, how: string): void {
    for (const { batch: ended, forMs } of this.#delays.get(lease) ?? []) {
      const waitedMs = this.#sight.mostMs(batch, ended);
      const what = () =>
        `${lease} was ${how} in batch ${batch.sequence} after ${waitedMs} ms of a lock delay of ${forMs}`;
      demand(waitedMs >= forMs, "lock delay", what);
    }
    this.#delays.delete(lease);
  }

  #expectNotRevoked({ sequence }: StoredBatch, lease: string, token: bigint, how: string): void {
    const isRevoked = this.#revoked.has(`${lease}#${token}`);
    demand(
      !isRevoked,
      "rule 15",
      () => `${lease} (token ${token}) was ${how} in batch ${sequence} after its revocation`,
    );
  }
}
