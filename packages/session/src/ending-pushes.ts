import { decodeRenewals, type EndingHold, EndOfTerm, type SessionPush } from "@tenure/contracts";
import { nameOf, namespaceOf } from "@tenure/core";
import type { KnownTerm, News } from "./news.ts";

/**
 * Tells a client that a term is asked to finish, and that the mark was withdrawn, from what its renewals say. For
 * processes that do not follow the log: there the renewal is the first to know.
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
