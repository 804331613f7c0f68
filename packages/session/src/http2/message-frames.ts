/** A byte that says whether a message is compressed, and four that say its length. */
export const prefixBytes = 5;

/** A message as gRPC puts it on a stream, not compressed. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  writeMessage(framed, 0, message);
  return framed;
}

/** Writes what {@link frameMessage} makes. */
export function writeMessage(target: Buffer, at: number, message: Uint8Array): void {
  target[at] = 0;
  target.writeUInt32BE(message.length, at + 1);
  target.set(message, at + prefixBytes);
}

/** What arrives on a stream is not what was agreed on: nothing that follows can be read either. */
export class Unreadable extends Error {}

/** As many pieces as the largest message has in full frames; more of them are smaller and would cost more than they hold. */
const mostLoosePieces = 256;

/**
 * Takes what arrives on a stream apart into messages, wherever it was cut. Each byte is copied once at most, or twice if
 * it comes in small pieces.
 */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #onMessage: (message: Uint8Array) => void;
  #chunks: Buffer[] = [];
  /** How many of the first chunks are put together from pieces. */
  #joined = 0;
  #size = 0;
  #needed = prefixBytes;

  /** A message of more than `maxBytes` is refused. */
  constructor(maxBytes: number, onMessage: (message: Uint8Array) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /** Throws {@link Unreadable}. */
  take(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let bytes = chunk;
    if (this.#size > 0) {
      this.#gather(chunk);
      if (this.#size < this.#needed) return;
      bytes = Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#joined = 0;
    }
    let start = 0;
    let end = this.#endOf(bytes, start);
    for (; end <= bytes.length; end = this.#endOf(bytes, start)) {
      this.#onMessage(bytes.subarray(start + prefixBytes, end));
      start = end;
    }
    if (start < bytes.length) this.#chunks.push(bytes.subarray(start));
    this.#size = bytes.length - start;
    this.#needed = end - start;
  }

  #gather(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#chunks.length - this.#joined <= mostLoosePieces) return;
    this.#chunks.push(Buffer.concat(this.#chunks.splice(this.#joined)));
    this.#joined += 1;
  }

  /** Where the message that begins at `start` ends; where its prefix ends as long as that is not all there. */
  #endOf(bytes: Buffer, start: number): number {
    if (bytes.length - start < prefixBytes) return start + prefixBytes;
    const length = bytes.readUInt32BE(start + 1);
    if (bytes[start] !== 0) throw new Unreadable("it sent a compressed message, which was not asked for");
    if (length > this.#maxBytes)
      throw new Unreadable(`it sent a message of ${length} bytes; ${this.#maxBytes} is the limit`);
    return start + prefixBytes + length;
  }
}
