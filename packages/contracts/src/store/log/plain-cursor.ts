import { type LeaseKey, leaseKey } from "@tenure/core";
import { maxSeconds } from "../../duration.ts";
import { KnownBytes } from "../value/known-bytes.ts";
import { hexOf } from "../value/text.ts";

const firstBeyondAscii = 0x80;
/** What the eighth byte of a number counts; a ninth is beyond what a number holds exactly. */
const mostScale = 2 ** 49;
const mostUint32 = 2 ** 32 - 1;
const nanosPerSecond = 1_000_000_000;
const nanosPerMs = 1_000_000;

/**
 * Reads protobuf fields straight from bytes, as long as there is nothing out of the ordinary in them. What is makes it
 * `isOdd` for good: whatever was read then does not count, and the general decoder has the last word.
 */
export class PlainCursor {
  readonly bytes: Uint8Array;
  at: number;
  isOdd = false;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** A number that is not negative and below 2^53. */
  number(): number {
    let value = 0;
    for (let scale = 1; scale <= mostScale; scale *= 128) {
      const byte = this.bytes[this.at] ?? 0;
      this.at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 && value <= Number.MAX_SAFE_INTEGER) return value;
    }
    this.isOdd = true;
    return 0;
  }

  /** A number of 32 bits: of a larger one the general decoder takes the lower part. */
  uint32(): number {
    const value = this.number();
    if (value > mostUint32) this.isOdd = true;
    return value;
  }

  /** Where the part that begins here ends. */
  end(within: number): number {
    const end = this.number() + this.at;
    if (end > within) this.isOdd = true;
    return this.isOdd ? this.at : end;
  }

  text(within: number): string {
    return this.#known(texts, within) ?? "";
  }

  key(within: number): LeaseKey {
    return this.#known(keys, within) ?? "/";
  }

  hex(within: number): string {
    return this.#known(hexes, within) ?? "";
  }

  skip(within: number): void {
    this.at = this.end(within);
  }

  durationMs(within: number): number {
    const end = this.end(within);
    let seconds = 0;
    let nanos = 0;
    while (this.at < end && !this.isOdd) {
      const tag = this.number();
      if (tag === 0x08) seconds = this.number();
      else if (tag === 0x10) nanos = this.number();
      else this.isOdd = true;
    }
    if (this.at !== end || seconds > maxSeconds || nanos >= nanosPerSecond) this.isOdd = true;
    return seconds * 1000 + nanos / nanosPerMs;
  }

  #known<Value>(known: KnownBytes<Value | undefined>, within: number): Value | undefined {
    const end = this.end(within);
    const value = known.of(this.bytes, this.at, end);
    this.at = end;
    if (value === undefined) this.isOdd = true;
    return value;
  }
}

const texts = new KnownBytes<string | undefined>((bytes, from, to) => {
  for (let place = from; place < to; place += 1) if ((bytes[place] ?? 0) >= firstBeyondAscii) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
});

const keys = new KnownBytes<LeaseKey | undefined>((bytes, from, to) => {
  const cursor = new PlainCursor(bytes, from);
  if (cursor.number() !== 0x0a) return undefined;
  const namespace = cursor.text(to);
  if (cursor.isOdd || cursor.at >= to || cursor.number() !== 0x12) return undefined;
  const name = cursor.text(to);
  return cursor.isOdd || cursor.at !== to ? undefined : leaseKey(namespace, name);
});

const hexes = new KnownBytes<string | undefined>((bytes, from, to) => hexOf(bytes.subarray(from, to)));
