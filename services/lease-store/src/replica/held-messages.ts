/** A message as the tail brought it. */
export interface TailedMessage {
  readonly sequence: bigint;
  readonly payload: Uint8Array;
}

/** Messages that arrived while owning, in order, and are not known to be our own. */
export class HeldMessages {
  #held: TailedMessage[] = [];

  add(message: TailedMessage): void {
    this.#held.push(message);
  }

  /** Whether there are any after a sequence. */
  hasAfter(after: bigint): boolean {
    return this.#held.some(({ sequence }) => sequence > after);
  }

  /** Forgets all up to a sequence. */
  forgetUpTo(last: bigint): void {
    if (this.#held.length > 0) this.#held = this.#held.filter(({ sequence }) => sequence > last);
  }

  /** Takes all out. */
  takeAll(): readonly TailedMessage[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}
