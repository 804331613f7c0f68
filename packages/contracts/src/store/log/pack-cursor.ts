import type { LeaseKey } from "@tenure/core";
import { maxSeconds } from "../../duration.ts";
import { KnownBytes } from "../value/known-bytes.ts";
import { ownBytes } from "../value/text.ts";

const firstBeyondAscii = 0x80;
/** What the eighth byte of a number counts; a ninth is beyond what a number holds exactly. */
const mostScale = 2 ** 49;
const nanosPerSecond = 1_000_000_000;
const nanosPerMs = 1_000_000;

/** Reads what {@link PackBytes} wrote. Anything that it could not have written throws. */
export class PackCursor {
  readonly #bytes: Uint8Array;
  /** Where the names stand, and what those say that were asked for. */
  readonly #places: number[] = [];
  readonly #names: string[] = [];
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(): number {
    let value = 0;
    for (let scale = 1; scale <= mostScale; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 && value <= Number.MAX_SAFE_INTEGER) return value;
    }
    throw new Error("a number of packed terms exceeds 2^53 - 1");
  }

  token(): bigint {
    return BigInt(this.number());
  }

  key(): LeaseKey {
    const key = this.text();
    if (key.includes("/")) return key;
    throw new Error(`packed terms name the lease ${JSON.stringify(key)}, which has no namespace`);
  }

  text(): string {
    const from = this.#skip(this.number());
    return texts.of(this.#bytes, from, this.#at);
  }

  name(): string {
    const place = this.skipName();
    const known = this.#names[place];
    if (known !== undefined) return known;
    const name = texts.of(this.#bytes, this.#places[2 * place] ?? 0, this.#places[2 * place + 1] ?? 0);
    this.#names[place] = name;
    return name;
  }

  skipText(): void {
    this.#skip(this.number());
  }

  /** Passes a name without making a text of it; returns which it is. */
  skipName(): number {
    const place = this.number();
    const count = this.#places.length / 2;
    if (place < count) return place;
    if (place > count) throw new Error(`packed terms have no name ${place} yet`);
    const from = this.#skip(this.number());
    this.#places.push(from, this.#at);
    return place;
  }

  /** Bytes of their own: a view would keep the whole message alive. */
  value(): Uint8Array | undefined {
    const length = this.number();
    if (length === 0) return undefined;
    const from = this.#skip(length - 1);
    return ownBytes(this.#bytes.subarray(from, this.#at));
  }

  skipValue(): void {
    const length = this.number();
    if (length > 0) this.#skip(length - 1);
  }

  durationMs(): number {
    const seconds = this.number();
    const nanos = this.number();
    if (seconds > maxSeconds || nanos >= nanosPerSecond) throw new Error("packed terms have a duration that is none");
    return seconds * 1000 + nanos / nanosPerMs;
  }

  /** A number of 32 bits in four bytes. */
  word(): number {
    return (this.#byte() | (this.#byte() << 8) | (this.#byte() << 16) | (this.#byte() << 24)) >>> 0;
  }

  /** Passes so many bytes; returns where they began. */
  #skip(length: number): number {
    const from = this.#at;
    if (length > this.#bytes.length - from) throw new Error("packed terms are cut off");
    this.#at = from + length;
    return from;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error("packed terms are cut off");
    this.#at += 1;
    return byte;
  }
}

const texts = new KnownBytes<string>((bytes, from, to) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from);
  for (let place = from; place < to; place += 1) {
    if ((bytes[place] ?? 0) >= firstBeyondAscii) return buffer.toString("utf8");
  }
  return buffer.toString("latin1");
});
