import type { Event } from "../partition/event.ts";
import type { PartitionState } from "../partition/state.ts";
import type { HoldFacts } from "../record/hold.ts";

interface Term {
  readonly lease: string;
  readonly hold: HoldFacts;
  leaseDurationMs: number;
  renewedAtMs: number;
}

/** Ends that only time may bring about. */
const byTime: ReadonlySet<string> = new Set(["expired", "ended"]);

/**
 * Judges the events of a log by itself, knowing nothing of how they were decided: what must never be in a log whatever
 * commands were sent. It reads the world's one true clock.
 */
export class Oracle {
  readonly #terms = new Map<number, Term>();
  readonly #newestToken = new Map<string, bigint>();
  readonly #pendingToken = new Map<string, bigint>();
  readonly #blockedUntilMs = new Map<string, number>();
  #highestHoldId = 0;
  /** What the random history reached, so that a test can show that it was not idle. */
  readonly seen = new Map<string, number>();

  /** Takes the events of one batch in order. */
  judge(events: readonly Event[], now: number): void {
    const begun = new Set<string>();
    for (const event of events) {
      this.seen.set(event.kind, (this.seen.get(event.kind) ?? 0) + 1);
      switch (event.kind) {
        case "holdPending":
          this.#newToken(event.lease, event.pending.token, begun);
          this.#pendingToken.set(event.lease, event.pending.token);
          this.#expectFree(event.lease, "exclusive");
          break;
        case "holdGranted":
          this.#grant(event.lease, event.hold, begun, now);
          break;
        case "renewed":
          for (const id of event.holdIds) this.#renew(id, event.author, now);
          break;
        case "holdChanged":
          this.#renew(event.holdId, event.author, now);
          break;
        case "holdEnded":
          this.#end(event, now);
          break;
        case "guardChanged":
          this.#guard(event.lease, event.token, event.author);
          break;
        default:
          break;
      }
    }
  }

  /** What must hold of the state itself. */
  inspect(state: PartitionState): void {
    const running = [...state.leases.values()].flatMap(({ holds }) => holds);
    expectThat(running.length === state.holds.size, "the index of holds is not the holds of the leases");
    for (const hold of running) expectThat(state.holds.get(hold.id) === hold, `hold ${hold.id} is not in the index`);
    expectThat(running.length === this.#terms.size, "a term is lost or invented");
    const counted = [...state.leases.values()].filter(({ created }) => created !== undefined).length;
    const counts = [...state.namespaces.values()].reduce((sum, count) => sum + count, 0);
    expectThat(counts === counted, `${counted} leases are counted as ${counts}`);
  }

  #newToken(lease: string, token: bigint, begun: Set<string>): void {
    const newest = this.#newestToken.get(lease) ?? 0n;
    expectThat(token > newest, `token ${token} of ${lease} is not above ${newest}`);
    expectThat(!begun.has(lease), `a second token of ${lease} in one batch`);
    begun.add(lease);
    this.#newestToken.set(lease, token);
  }

  #grant(lease: string, hold: HoldFacts, begun: Set<string>, now: number): void {
    const isAccept = this.#pendingToken.get(lease) === hold.token && hold.origin === "elected";
    if (!isAccept) this.#newToken(lease, hold.token, begun);
    this.#pendingToken.delete(lease);
    this.#expectFree(lease, hold.mode);
    expectThat(hold.id > this.#highestHoldId, `hold id ${hold.id} is given again`);
    this.#highestHoldId = hold.id;
    const blockedUntilMs = this.#blockedUntilMs.get(lease) ?? 0;
    expectThat(
      now >= blockedUntilMs,
      `${lease} is granted ${blockedUntilMs - now} ms before its lock delay has passed`,
    );
    this.#terms.set(hold.id, { lease, hold, leaseDurationMs: hold.leaseDurationMs, renewedAtMs: now });
  }

  #expectFree(lease: string, mode: string): void {
    for (const term of this.#terms.values()) {
      const isExcluded = term.lease === lease && (mode !== "shared" || term.hold.mode !== "shared");
      expectThat(!isExcluded, `${lease} is given while ${term.hold.holder} holds it`);
    }
  }

  #renew(id: number, author: string, now: number): void {
    const term = this.#terms.get(id);
    expectThat(term !== undefined, `hold ${id} is renewed and does not run`);
    expectThat(term?.hold.principal === author, `${author} renewed the hold of ${term?.hold.principal}`);
    if (term !== undefined) term.renewedAtMs = now;
  }

  #end({ author, endReason, holdId, lease, lockDelayMs }: Extract<Event, { kind: "holdEnded" }>, now: number): void {
    const term = this.#terms.get(holdId);
    expectThat(term !== undefined, `hold ${holdId} ended and does not run`);
    if (term === undefined) return;
    const isOverdue = now - term.renewedAtMs >= term.leaseDurationMs;
    const isOwn = author === term.hold.principal;
    const isAllowed = byTime.has(endReason) ? isOverdue : isOwn || isOverdue || endReason === "stolen";
    expectThat(isAllowed, `${lease} ended (${endReason}) ${now - term.renewedAtMs} ms after its renewal by ${author}`);
    if (!isOwn && endReason !== "stolen") {
      expectThat(lockDelayMs === term.hold.lockDelayMs, `${lease} ended without its lock delay`);
      this.#blockedUntilMs.set(lease, Math.max(this.#blockedUntilMs.get(lease) ?? 0, now + lockDelayMs));
    }
    this.#terms.delete(holdId);
  }

  #guard(lease: string, token: bigint, author: string): void {
    const newest = this.#newestToken.get(lease);
    expectThat(token === newest, `a write with token ${token} of ${lease} was accepted after ${newest} was given`);
    const writer = [...this.#terms.values()].find((term) => term.lease === lease && term.hold.token === token);
    expectThat(writer?.hold.principal === author, `${author} wrote as the holder of ${lease}`);
    expectThat(writer?.hold.mode === "exclusive", `${lease} was written under a shared hold`);
  }
}

function expectThat(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what);
}
