/** Writes what ZooKeeper reads: numbers big-endian, texts and bytes with their length before them. */
export class JuteWriter {
  #bytes = Buffer.allocUnsafe(128);
  #length = 4;

  int(value: number): this {
    const at = this.#take(4);
    this.#bytes.writeInt32BE(value, at);
    return this;
  }

  long(value: bigint): this {
    const at = this.#take(8);
    this.#bytes.writeBigInt64BE(value, at);
    return this;
  }

  flag(value: boolean): this {
    const at = this.#take(1);
    this.#bytes[at] = value ? 1 : 0;
    return this;
  }

  buffer(value: Uint8Array): this {
    this.int(value.length);
    const at = this.#take(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  text(value: string): this {
    return this.buffer(Buffer.from(value));
  }

  /** The packet: everything that was written, its length before it. */
  packet(): Buffer {
    this.#bytes.writeInt32BE(this.#length - 4, 0);
    return this.#bytes.subarray(0, this.#length);
  }

  #take(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#length)]);
    return at;
  }
}

/** Reads what ZooKeeper writes. */
export class JuteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  long(): bigint {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8);
  }

  text(): string {
    const length = this.int();
    this.#at += length;
    return this.#bytes.toString("utf8", this.#at - length, this.#at);
  }

  texts(): string[] {
    return Array.from({ length: Math.max(0, this.int()) }, () => this.text());
  }
}

/** Takes a stream of bytes apart into packets, wherever they were cut. */
export class PacketReader {
  readonly #onPacket: (packet: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onPacket: (packet: Buffer) => void) {
    this.#onPacket = onPacket;
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    while (bytes.length - start >= 4) {
      const end = start + 4 + bytes.readInt32BE(start);
      if (end > bytes.length) break;
      this.#onPacket(bytes.subarray(start + 4, end));
      start = end;
    }
    this.#rest = bytes.subarray(start);
  }
}
