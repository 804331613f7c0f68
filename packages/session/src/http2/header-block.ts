import { decodeHuffman } from "./huffman.ts";
import { ErrorCode, ProtocolError } from "./protocol-error.ts";

/** Header fields by name; of a name that comes twice the values are joined. */
export type Headers = Readonly<Record<string, string>>;

/** RFC 7541, appendix A: what every peer knows, from 1 on. */
const staticTable = (
  ":authority;:method GET;:method POST;:path /;:path /index.html;:scheme http;:scheme https;:status 200;:status 204;" +
  ":status 206;:status 304;:status 400;:status 404;:status 500;accept-charset;accept-encoding gzip, deflate;" +
  "accept-language;accept-ranges;accept;access-control-allow-origin;age;allow;authorization;cache-control;" +
  "content-disposition;content-encoding;content-language;content-length;content-location;content-range;content-type;" +
  "cookie;date;etag;expect;expires;from;host;if-match;if-modified-since;if-none-match;if-range;if-unmodified-since;" +
  "last-modified;link;location;max-forwards;proxy-authenticate;proxy-authorization;range;referer;refresh;retry-after;" +
  "server;set-cookie;strict-transport-security;transfer-encoding;user-agent;vary;via;www-authenticate"
)
  .split(";")
  .map((entry) => entry.split(/ (.*)/, 2));

/** From the beginning of a block on, nothing is remembered of it. */
const tableOfSizeZero = 0x20;
const namePattern = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Header fields as HTTP/2 has them, in plain text. Throws for what no header can hold. */
export function encodeHeaders(headers: Headers): Buffer {
  const parts: Buffer[] = [Buffer.from([tableOfSizeZero])];
  for (const [name, value] of Object.entries(headers)) {
    if (!namePattern.test(name) || !valuePattern.test(value)) throw new TypeError(`no header can hold ${name}`);
    parts.push(Buffer.from([0]), plainText(name), plainText(value));
  }
  return Buffer.concat(parts);
}

function plainText(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const length: number[] = [Math.min(bytes.length, 0x7f)];
  if (bytes.length >= 0x7f) {
    let rest = bytes.length - 0x7f;
    for (; rest >= 0x80; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

/**
 * The fields of a block of headers. Only for a peer that was told to remember none of them, which is said in the first
 * settings and so before it can send any.
 */
export function decodeHeaders(block: Buffer): Headers {
  const headers: Record<string, string> = Object.create(null);
  const reader = new BlockReader(block);
  while (!reader.isAtEnd) {
    const first = reader.peek();
    if (first >= 0x80) {
      const [name = "", value = ""] = known(reader.number(0x7f));
      add(headers, name, value);
    } else if (first >= 0x20 && first < 0x40) {
      reader.number(0x1f);
    } else {
      const index = reader.number(first >= 0x40 ? 0x3f : 0x0f);
      const name = index === 0 ? reader.text() : (known(index)[0] ?? "");
      add(headers, name, reader.text());
    }
  }
  return headers;
}

function add(headers: Record<string, string>, name: string, value: string): void {
  headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
}

function known(index: number): readonly string[] {
  return staticTable[index - 1] ?? broken(`entry ${index} of no table`);
}

function broken(what: string): never {
  throw new ProtocolError(ErrorCode.compression, `it sent headers that cannot be read: ${what}`);
}

/** Reads the numbers and texts of a block. */
class BlockReader {
  readonly #block: Buffer;
  #at = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#block.length;
  }

  peek(): number {
    return this.#block[this.#at] ?? broken("they are cut off");
  }

  /** A number of which the first byte has the bits of `mask`. */
  number(mask: number): number {
    let number = this.#next() & mask;
    if (number < mask) return number;
    for (let factor = 1; ; factor *= 0x80) {
      if (factor > 0x80 ** 3) broken("a number too great");
      const byte = this.#next();
      number += (byte & 0x7f) * factor;
      if (byte < 0x80) return number;
    }
  }

  text(): string {
    const isShortened = this.peek() >= 0x80;
    const length = this.number(0x7f);
    const bytes = this.#block.subarray(this.#at, this.#at + length);
    if (bytes.length < length) broken("they are cut off");
    this.#at += length;
    return isShortened ? (decodeHuffman(bytes) ?? broken("no Huffman code")) : bytes.toString("latin1");
  }

  #next(): number {
    const byte = this.peek();
    this.#at += 1;
    return byte;
  }
}
