import type { Random } from "@tenure/kernel";
import { clientOpening } from "@tenure/session/http2";

/** Malformed inputs, each a function of chance alone: the same seed gives the same inputs. */
export class Noise {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0];
  }

  /** Bytes without any form. */
  bytes(most: number): Buffer {
    return Buffer.from(Array.from({ length: this.below(most + 1) }, () => this.below(256)));
  }

  /** A message with fields of any number and type, nested, of names that no lease may have; sometimes cut off. */
  message(depth = 0): Buffer {
    const fields = Array.from({ length: this.below(6) }, () => this.#field(depth));
    const whole = Buffer.concat(fields);
    return this.below(4) === 0 ? whole.subarray(0, this.below(whole.length + 1)) : whole;
  }

  #field(depth: number): Buffer {
    const number = 1 + this.below(this.below(4) === 0 ? 2_000 : 10);
    const wireType = this.below(4) === 0 ? this.below(8) : this.pick([0, 2, 2, 2]);
    const tag = varint(BigInt(number) * 8n + BigInt(wireType));
    if (wireType === 0) return Buffer.concat([tag, this.#number()]);
    if (wireType === 1) return Buffer.concat([tag, this.bytes(8)]);
    if (wireType === 5) return Buffer.concat([tag, this.bytes(4)]);
    if (wireType !== 2) return tag;
    const content = this.below(3) === 0 && depth < 5 ? this.message(depth + 1) : this.#text();
    const length = this.below(12) === 0 ? this.below(100_000) : content.length;
    return Buffer.concat([tag, varint(BigInt(length)), content]);
  }

  #number(): Buffer {
    return varint(this.pick([0n, 1n, 127n, 2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]));
  }

  /** Nothing of this is a legal namespace or name, so that no input can be a legal change. */
  #text(): Buffer {
    const texts: [string, ...string[]] = [
      "*",
      ">",
      "A B",
      "a..b",
      "\u0000",
      "\r\n",
      "../x",
      "_INBOX.>",
      "UPPER",
      "é",
      " ",
    ];
    return this.below(2) === 0 ? Buffer.from(this.pick(texts).repeat(1 + this.below(20))) : this.bytes(40);
  }
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** A gRPC message: a flag, a length and the bytes; `noise` sometimes has the head wrong. */
export function framed(message: Buffer, noise?: Noise): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  if (noise !== undefined && noise.below(2) === 0) head[0] = noise.below(256);
  if (noise !== undefined && noise.below(2) === 0) head.writeUInt32BE(noise.below(2 ** 32), 1);
  return Buffer.concat([head, message]);
}

/** How the SDK opens its connection, which is served by the gateway itself. */
const sdkOpening = clientOpening({ ":method": "POST", ":path": "/tenure.v1.SessionService/Session" });

/** Frames of HTTP/2 with any type, flags, stream and length, after a proper opening or not. */
export function http2Noise(noise: Noise): Buffer {
  const opening = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  const parts = noise.pick([[noise.bytes(200)], [opening, settings], [opening, settings], [sdkOpening], [sdkOpening]]);
  for (let count = noise.below(12); count >= 0; count -= 1) {
    const content = noise.bytes(120);
    const head = Buffer.alloc(9);
    head.writeUIntBE(noise.below(6) === 0 ? noise.below(2 ** 24) : content.length, 0, 3);
    head[3] = noise.below(14);
    head[4] = noise.below(256);
    head.writeUInt32BE(noise.pick([0, 1, 3, 5, noise.below(2 ** 31)]), 5);
    parts.push(head, content);
  }
  return Buffer.concat(parts);
}
