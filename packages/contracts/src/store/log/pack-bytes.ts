const firstBeyondAscii = 0x80;
const beyondInt32 = 2 ** 31;
const firstBytes = 8_192;
/** What an item takes at most beside its texts: a dozen numbers and words. */
const itemBytes = 160;
/** A buffer that has grown beyond this is not kept for the next pack. */
const keptBytes = 262_144;

/** Grows by what a pack says, in the layout of `tenure.log.v1.Event.packed_terms`. Used again for every pack. */
export class PackBytes {
  #bytes = Buffer.alloc(firstBytes);
  #at = 0;
  #names = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#at === 0;
  }

  /** Begins an item, and the pack if it is the first. */
  item(kind: number): void {
    this.#reserve(itemBytes);
    if (this.#at === 0) this.#byte(packVersion);
    this.#byte(kind);
  }

  /** A whole number from 0 to 2^53 - 1. */
  number(value: number): void {
    let rest = value;
    while (rest >= beyondInt32) {
      this.#byte((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    for (; rest >= 0x80; rest >>>= 7) this.#byte((rest & 0x7f) | 0x80);
    this.#byte(rest);
  }

  text(text: string): void {
    // Three bytes for each unit at most.
    this.#reserve(itemBytes + 3 * text.length);
    const from = this.#at;
    this.number(text.length);
    for (let place = 0; place < text.length; place += 1) {
      const unit = text.charCodeAt(place);
      if (unit >= firstBeyondAscii) {
        this.#at = from;
        this.number(Buffer.byteLength(text));
        this.#at += this.#bytes.write(text, this.#at);
        return;
      }
      this.#byte(unit);
    }
  }

  /** A text that comes again and again, in full the first time. */
  name(text: string): void {
    const known = this.#names.get(text);
    this.number(known ?? this.#names.size);
    if (known !== undefined) return;
    this.#names.set(text, this.#names.size);
    this.text(text);
  }

  /** Bytes, or that there are none, which is not the same as no bytes at all. */
  value(value: Uint8Array | undefined): void {
    this.number(value === undefined ? 0 : value.length + 1);
    if (value === undefined) return;
    this.#reserve(itemBytes + value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** A duration of 0 ms or more, rounded to the nanosecond as `durationFromMs` does. */
  duration(durationMs: number): void {
    const seconds = Math.trunc(durationMs / 1000);
    const nanos = Math.round((durationMs - seconds * 1000) * 1_000_000);
    const carry = Math.trunc(nanos / 1_000_000_000);
    this.number(seconds + carry);
    this.number(nanos - carry * 1_000_000_000);
  }

  /** A number of 32 bits in four bytes. */
  word(value: number): void {
    this.#byte(value & 0xff);
    this.#byte((value >>> 8) & 0xff);
    this.#byte((value >>> 16) & 0xff);
    this.#byte(value >>> 24);
  }

  /** The pack so far, in memory of its own. */
  take(): Uint8Array {
    const pack = new Uint8Array(this.#bytes.subarray(0, this.#at));
    this.clear();
    return pack;
  }

  clear(): void {
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.alloc(firstBytes);
    this.#at = 0;
    if (this.#names.size > 0) this.#names = new Map();
  }

  #byte(byte: number): void {
    this.#bytes[this.#at] = byte;
    this.#at += 1;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const grown = Buffer.alloc(Math.max(2 * this.#bytes.length, this.#at + bytes));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

/** The layout's only version so far. */
export const packVersion = 0x01;
