import type { LeaseKey } from "@tenure/core";
import { maxSeconds } from "../../duration.ts";
import { KnownBytes } from "../value/known-bytes.ts";

const firstBeyondAscii = 0x80;
/** What the eighth byte of a number counts; a ninth is beyond what a number holds exactly. */
const mostScale = 2 ** 49;
const nanosPerSecond = 1_000_000_000;
const nanosPerMs = 1_000_000;

/** Reads what {@link PackBytes} wrote. Anything that it could not have written throws. */
export class PackCursor {
  readonly #bytes: Uint8Array;
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
    const length = this.number();
    const from = this.#at;
    const to = from + length;
    if (to > this.#bytes.length) throw new Error("a text of packed terms is cut off");
    this.#at = to;
    return texts.of(this.#bytes, from, to);
  }

  name(): string {
    const place = this.number();
    const known = this.#names[place];
    if (known !== undefined) return known;
    if (place !== this.#names.length) throw new Error(`packed terms have no name ${place} yet`);
    const name = this.text();
    this.#names.push(name);
    return name;
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
