import { decodeRenewals, type EndingHold, EndOfTerm, type PackedRefusal, type SessionPush } from "@tenure/contracts";
import { nameOf, namespaceOf } from "@tenure/core";
import { faultCodes } from "@tenure/kernel";
import type { KnownTerm, News } from "./news.ts";

/** Refusals that say nothing about the term. */
const passing: ReadonlySet<number> = new Set([
  faultCodes.UNAVAILABLE,
  faultCodes.RESOURCE_EXHAUSTED,
  faultCodes.DEADLINE_EXCEEDED,
]);

/**
 * Tells a client that a term is asked to finish, and that the mark was withdrawn, from what its renewals say. The log's
 * own news may have told the same before; they do not tell of a mark that was there when they began, or that came while
 * the log was read anew, and a renewal says it in any case.
 */
export class EndingPushes {
  readonly #termOf: News["termOf"];
  readonly #push: (push: SessionPush) => void;
  readonly #ending = new Map<string, KnownTerm>();

  constructor(termOf: News["termOf"], push: (push: SessionPush) => void) {
    this.#termOf = termOf;
    this.#push = push;
  }

  /** Renewals of one partition were committed, some of terms that are to end. */
  onRenewed(acks: Uint8Array, endings: readonly EndingHold[]): void {
    if (endings.length === 0 && this.#ending.size === 0) return;
    const groups = decodeRenewals(acks);
    const partition = groups[0]?.partition ?? 0;
    const successors = new Map(endings.map(({ holdId, successor }) => [Number(holdId), successor]));
    for (const [holdId, successor] of successors) this.#mark(partition, holdId, successor);
    for (const { holdIds } of groups) {
      for (const holdId of holdIds) if (!successors.has(holdId)) this.#clear(partition, holdId);
    }
  }

  /** A renewal that was refused for good has no term any more; one whose outcome is not known may have. */
  onRefused(refusals: readonly PackedRefusal[]): void {
    if (this.#ending.size === 0) return;
    for (const { failure, holdId, partition } of refusals) {
      if (failure !== undefined && !passing.has(failure.code)) this.forget(`${partition}.${holdId}`);
    }
  }

  /** The term is over; `name` is `<partition>.<hold>`. */
  forget(name: string): void {
    this.#ending.delete(name);
  }

  #mark(partition: number, holdId: number, successor: string): void {
    const name = `${partition}.${holdId}`;
    if (this.#ending.has(name)) return;
    const term = this.#termOf(partition, holdId);
    if (term === undefined) return;
    this.#ending.set(name, term);
    this.#push(pushOf(term, successor, false));
  }

  #clear(partition: number, holdId: number): void {
    const name = `${partition}.${holdId}`;
    const term = this.#ending.get(name);
    if (term === undefined) return;
    this.#ending.delete(name);
    this.#push(pushOf(term, "", true));
  }
}

function pushOf({ lease, token }: KnownTerm, preferredHolder: string, cleared: boolean): SessionPush {
  const endOfTerm = EndOfTerm.fromPartial({ token, preferredHolder });
  const key = { namespace: namespaceOf(lease), name: nameOf(lease) };
  return { push: { $case: "endOfTerm", value: { lease: key, endOfTerm, cleared } } };
}
