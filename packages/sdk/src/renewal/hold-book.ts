import type { EndOfTermPush, LeaseKey, SessionPush, TermEndedPush } from "@tenure/contracts";
import type { KeepListener, KeptHold } from "../session/session.ts";

/** A hold that is kept, and who is told of it. */
export interface BookedHold {
  readonly hold: KeptHold;
  readonly listener: KeepListener;
}

/** The kept holds by their lease, so that news find whom they concern. */
export class HoldBook<Entry extends BookedHold> {
  readonly #byLease = new Map<string, Set<Entry>>();

  add(entry: Entry): void {
    const key = textOf(entry.hold.lease);
    const entries = this.#byLease.get(key);
    if (entries === undefined) this.#byLease.set(key, new Set([entry]));
    else entries.add(entry);
  }

  delete(entry: Entry): void {
    const key = textOf(entry.hold.lease);
    const entries = this.#byLease.get(key);
    if (entries?.delete(entry) && entries.size === 0) this.#byLease.delete(key);
  }

  /** Tells the holds that a push is about. */
  onPush({ push }: SessionPush): void {
    if (push?.$case === "endOfTerm") this.#onEndOfTerm(push.value);
    else if (push?.$case === "termEnded") this.#onTermEnded(push.value);
  }

  #onEndOfTerm({ lease, endOfTerm, cleared }: EndOfTermPush): void {
    // A withdrawn mark may come without the mark, and then it concerns whoever was marked.
    for (const { listener } of this.#find(lease, endOfTerm?.token ?? 0n)) {
      const { preferredHolder: successor = "", reason = "" } = endOfTerm ?? {};
      listener.onEndOfTerm({ successor, cleared, reason });
    }
  }

  #onTermEnded({ lease, token, endReason, note }: TermEndedPush): void {
    for (const { listener } of this.#find(lease, token)) listener.onEnded(endReason, note);
  }

  #find(lease: LeaseKey | undefined, token: bigint): readonly Entry[] {
    const entries = lease === undefined ? undefined : this.#byLease.get(textOf(lease));
    return [...(entries ?? [])].filter(({ hold }) => token === 0n || hold.token === token);
  }
}

function textOf({ namespace, name }: LeaseKey): string {
  return `${namespace}/${name}`;
}
