const prefixBytes = 5;

/** A message as gRPC puts it on a stream: not compressed, its length before it. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, prefixBytes);
  return framed;
}

/** Takes a stream of bytes apart into messages, wherever they were cut. */
export class FrameReader {
  readonly #onMessage: (message: Uint8Array) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onMessage: (message: Uint8Array) => void) {
    this.#onMessage = onMessage;
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    while (bytes.length - start >= prefixBytes) {
      const end = start + prefixBytes + bytes.readUInt32BE(start + 1);
      if (end > bytes.length) break;
      this.#onMessage(bytes.subarray(start + prefixBytes, end));
      start = end;
    }
    this.#rest = bytes.subarray(start);
  }
}
