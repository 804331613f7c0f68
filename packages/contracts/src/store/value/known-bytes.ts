import { ownBytes } from "./text.ts";

/** Longer ones hardly ever come again. */
const mostBytes = 128;

interface Entry<Value> {
  readonly hash: number;
  readonly bytes: Uint8Array;
  readonly value: Value;
}

/**
 * What was made of bytes that come again and again: comparing a name's bytes costs a fraction of making a text of them, and
 * one text for all finds its place in a table without being looked at. Bounded: a newcomer takes another's place, and only
 * when it comes a second time, so that what comes once leaves nothing behind.
 */
export class KnownBytes<Value> {
  readonly #make: (bytes: Uint8Array, from: number, to: number) => Value;
  readonly #entries: (Entry<Value> | undefined)[];
  /** The hash of what last came to a place without being known. */
  readonly #seen: Int32Array;
  readonly #mask: number;

  /** `slots` is a power of two. */
  constructor(make: (bytes: Uint8Array, from: number, to: number) => Value, slots = 4_096) {
    this.#make = make;
    this.#entries = new Array(slots).fill(undefined);
    this.#seen = new Int32Array(slots);
    this.#mask = slots - 1;
  }

  /** What the bytes between two places stand for. */
  of(bytes: Uint8Array, from: number, to: number): Value {
    if (to - from > mostBytes) return this.#make(bytes, from, to);
    let hash = to - from;
    for (let place = from; place < to; place += 1) hash = (Math.imul(hash, 31) + (bytes[place] ?? 0)) | 0;
    const slot = (hash ^ (hash >>> 13)) & this.#mask;
    const entry = this.#entries[slot];
    if (entry !== undefined && entry.hash === hash && isSame(entry.bytes, bytes, from, to)) return entry.value;
    const value = this.#make(bytes, from, to);
    if (this.#seen[slot] === hash) this.#entries[slot] = { hash, bytes: ownBytes(bytes.subarray(from, to)), value };
    else this.#seen[slot] = hash;
    return value;
  }
}

function isSame(known: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (known.length !== to - from) return false;
  for (let place = 0; place < known.length; place += 1) if (known[place] !== bytes[from + place]) return false;
  return true;
}
