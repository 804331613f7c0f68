import { ErrorCode, ProtocolError } from "./protocol-error.ts";

/** The kinds of frames that are known here; others are skipped. */
export const FrameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const Flag = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Length, kind, flags and stream come before the content of a frame. */
export const headBytes = 9;

/** Nobody may send larger ones unless told so, and nobody is. */
export const mostFrameBytes = 16_384;

/** Writes the head of a frame. */
export function writeHead(target: Buffer, length: number, type: number, flags: number, stream: number): void {
  target.writeUIntBE(length, 0, 3);
  target[3] = type;
  target[4] = flags;
  target.writeUInt32BE(stream, 5);
}

export function frame(type: number, flags: number, stream: number, content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + content.length);
  writeHead(bytes, content.length, type, flags, stream);
  bytes.set(content, headBytes);
  return bytes;
}

/** A frame whose content are numbers of four bytes. */
export function numbersFrame(type: number, stream: number, ...numbers: readonly number[]): Buffer {
  const content = Buffer.allocUnsafe(4 * numbers.length);
  numbers.forEach((number, place) => void content.writeUInt32BE(number, 4 * place));
  return frame(type, 0, stream, content);
}

/** The identifiers and values of a frame of settings. */
export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const content = Buffer.allocUnsafe(6 * settings.length);
  settings.forEach(([id, value], place) => {
    content.writeUInt16BE(id, 6 * place);
    content.writeUInt32BE(value, 6 * place + 2);
  });
  return frame(FrameType.settings, 0, 0, content);
}

/** Reads what {@link settingsFrame} makes. */
export function* readSettings(content: Buffer): Generator<readonly [number, number], void, undefined> {
  if (content.length % 6 !== 0) throw new ProtocolError(ErrorCode.frameSize, "it sent settings that are cut off");
  for (let at = 0; at < content.length; at += 6) yield [content.readUInt16BE(at), content.readUInt32BE(at + 2)];
}

/** Told of each frame; the content is shared with the bytes that were read. */
export type OnFrame = (type: number, flags: number, stream: number, content: Buffer) => void;

/** Takes what arrives on a connection apart into frames, wherever it was cut. */
export class FrameReader {
  readonly #onFrame: OnFrame;
  #rest: Buffer | undefined;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Throws {@link ProtocolError}. */
  take(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= headBytes) {
      const length = bytes.readUIntBE(at, 3);
      if (length > mostFrameBytes) throw new ProtocolError(ErrorCode.frameSize, `it sent a frame of ${length} bytes`);
      const end = at + headBytes + length;
      if (end > bytes.length) break;
      const stream = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
      this.#onFrame(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, stream, bytes.subarray(at + headBytes, end));
      at = end;
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at);
  }
}
