import type { Writable } from "node:stream";
import { Flag, FrameType, frame, headBytes, mostFrameBytes, writeHead } from "./frames.ts";
import type { Headers } from "./header-block.ts";
import { frameMessage, prefixBytes, writeMessage } from "./message-frames.ts";
import { firstWindowBytes, headersFrames, streamId } from "./opening.ts";
import { unexpected } from "./protocol-error.ts";

/** The greatest window that HTTP/2 knows. */
const greatestWindow = 0x7fff_ffff;
/** What the socket may hold: a peer that gives room and does not read could have all cut into frames of a byte. */
const mostUnsentBytes = 256 * 1024;

/** What is said on a stream: as much as the peer has room for, and the rest when it has. */
export class Outgoing {
  readonly #socket: Writable;
  readonly #onWritable: () => void;
  /** What the peer has room for, on the connection and on the stream, and how much it gives a new stream. */
  #connectionRoom = firstWindowBytes;
  #streamRoom = firstWindowBytes;
  #peerWindow = firstWindowBytes;
  /** Messages that the peer has no room for yet, and what ends the stream after them. */
  readonly #waiting: Buffer[] = [];
  #last: Buffer | undefined;
  #isLastOfAll = false;

  /** `onWritable` is told that there is room again. */
  constructor(socket: Writable, onWritable: () => void) {
    this.#socket = socket;
    this.#onWritable = onWritable;
    socket.on("drain", () => (this.#waiting.length === 0 ? onWritable() : this.#onRoom()));
  }

  /** False: send no more before there is room again; what was handed over is sent. */
  send(message: Uint8Array): boolean {
    const size = prefixBytes + message.length;
    if (this.#last !== undefined) return false;
    if (this.#waiting.length > 0 || size > this.#room()) {
      this.#waiting.push(frameMessage(message));
      this.#sendWaiting();
      return this.#waiting.length === 0 && !this.#socket.writableNeedDrain;
    }
    this.#spend(size);
    const bytes = Buffer.allocUnsafe(headBytes + size);
    writeHead(bytes, size, FrameType.data, 0, streamId);
    writeMessage(bytes, headBytes, message);
    return this.#socket.write(bytes);
  }

  /** Ends the stream after all that was sent; with trailers the connection too. */
  end(trailers?: Headers): void {
    if (this.#last !== undefined) return;
    this.#isLastOfAll = trailers !== undefined;
    const nothing = () => frame(FrameType.data, Flag.endStream, streamId, Buffer.alloc(0));
    this.#last = trailers === undefined ? nothing() : headersFrames(trailers, true);
    this.#sendWaiting();
  }

  /** The peer has this much more room, on the connection (0) or on the stream. */
  addRoom(stream: number, bytes: number): void {
    if (stream === 0) this.#connectionRoom += bytes;
    else if (stream === streamId) this.#streamRoom += bytes;
    const isTooMuch = Math.max(this.#connectionRoom, this.#streamRoom) > greatestWindow;
    if (bytes === 0 || isTooMuch) throw unexpected(FrameType.windowUpdate);
    this.#onRoom();
  }

  /** The peer gives this much room to a stream, from its beginning on. */
  setWindow(bytes: number): void {
    if (bytes > greatestWindow) throw unexpected(FrameType.settings);
    this.#streamRoom += bytes - this.#peerWindow;
    this.#peerWindow = bytes;
    this.#onRoom();
  }

  #room(): number {
    return Math.min(this.#connectionRoom, this.#streamRoom, mostFrameBytes);
  }

  #spend(bytes: number): void {
    this.#connectionRoom -= bytes;
    this.#streamRoom -= bytes;
  }

  #onRoom(): void {
    if (this.#waiting.length === 0) return;
    this.#sendWaiting();
    if (this.#waiting.length === 0 && !this.#socket.writableNeedDrain) this.#onWritable();
  }

  #sendWaiting(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const size = Math.min(first.length, this.#room());
      if (size <= 0 || this.#socket.writableLength > mostUnsentBytes) return;
      this.#spend(size);
      this.#socket.write(frame(FrameType.data, 0, streamId, first.subarray(0, size)));
      if (size < first.length) this.#waiting[0] = first.subarray(size);
      else this.#waiting.shift();
    }
    if (this.#last === undefined) return;
    if (this.#isLastOfAll) this.#socket.end(this.#last);
    else this.#socket.write(this.#last);
  }
}
