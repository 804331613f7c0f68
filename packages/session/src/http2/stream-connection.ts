import type { Socket } from "node:net";
import { Answers } from "./answers.ts";
import { Flag, FrameReader, FrameType, frame, numbersFrame, readSettings } from "./frames.ts";
import { decodeHeaders, type Headers } from "./header-block.ts";
import { HeaderPieces } from "./header-pieces.ts";
import { MessageReader, Unreadable } from "./message-frames.ts";
import { headersFrames, ownWindowBytes, Setting, streamId } from "./opening.ts";
import { Outgoing } from "./outgoing.ts";
import { ErrorCode, ProtocolError, unexpected } from "./protocol-error.ts";

/** What a connection tells. Nothing after `onClosed`. */
export interface StreamListener {
  /** The headers that begin the peer's side of the stream, or that end it. */
  onHeaders(headers: Headers): void;
  /** A message; it may throw {@link Unreadable}. */
  onMessage(message: Uint8Array): void;
  /** What has come is no message that may come: nothing more is read. */
  onUnreadable(error: Unreadable): void;
  /** The peer has ended its side of the stream. */
  onEnd(): void;
  /** There is room again after `send` said that there was none. */
  onWritable(): void;
  /** The connection is closed; `failure` is what the peer or the network did wrong. */
  onClosed(failure: Error | undefined): void;
}

/** What a ping carries. */
const pingBytes = 8;

/**
 * One stream of gRPC messages on an HTTP/2 connection of its own, as either side sees it. It does what HTTP/2 demands of
 * an endpoint with one stream and nothing that a second one would need, at a third of the cost of a general one.
 */
export class StreamConnection {
  readonly #socket: Socket;
  readonly #listener: StreamListener;
  readonly #frames = new FrameReader((type, flags, stream, content) => this.#onFrame(type, flags, stream, content));
  readonly #messages: MessageReader;
  readonly #outgoing: Outgoing;
  readonly #answers: Answers;
  readonly #headers = new HeaderPieces();
  /** Bytes of the peer that it has not been given room for again. */
  #taken = 0;
  #blockFlags = 0;
  #hasBegun = false;
  #hasPeerEnded = false;
  /** This side has said its last word: messages that still come are nobody's. */
  #isOver = false;
  #isDeaf = false;
  #failure: Error | undefined;
  #onPong: (() => void) | undefined;

  /** `opening` is what this side says first. */
  constructor(socket: Socket, opening: Buffer, maxMessageBytes: number, listener: StreamListener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#messages = new MessageReader(maxMessageBytes, (message) => listener.onMessage(message));
    this.#outgoing = new Outgoing(socket, () => listener.onWritable());
    this.#answers = new Answers(socket);
    socket.on("data", (chunk: Buffer) => this.take(chunk));
    socket.on("error", (error) => this.fail(error));
    socket.on("close", () => listener.onClosed(this.#failure));
    socket.write(opening);
  }

  /** Bytes of the peer. What they break ends the connection; what the listener throws is not caught. */
  take(chunk: Buffer): void {
    if (this.#isDeaf || this.#socket.destroyed) return;
    try {
      this.#frames.take(chunk);
      this.#answers.flush();
    } catch (thrown) {
      this.#isDeaf = true;
      if (thrown instanceof Unreadable) this.#listener.onUnreadable(thrown);
      else if (thrown instanceof ProtocolError) this.#refuse(thrown);
      else throw thrown;
    }
  }

  /** Sends a message. False: send no more before `onWritable`; what was handed over is sent. */
  send(message: Uint8Array): boolean {
    return this.#outgoing.send(message);
  }

  /** Sends headers that do not end the stream. */
  respond(headers: Headers): void {
    this.#socket.write(headersFrames(headers, false));
  }

  /** Ends this side of the stream after all that was sent. With headers it is the connection's end too: a server's. */
  end(trailers?: Headers): void {
    this.#isOver ||= trailers !== undefined;
    this.#outgoing.end(trailers);
  }

  /** Asks for a sign of life. */
  ping(onPong: () => void): void {
    this.#onPong = onPong;
    this.#socket.write(frame(FrameType.ping, 0, 0, Buffer.alloc(pingBytes)));
  }

  /** Notes why the connection is about to be over; the first reason counts. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** Cuts the connection. */
  destroy(): void {
    this.#socket.destroy();
  }

  #onFrame(type: number, flags: number, stream: number, content: Buffer): void {
    if (this.#headers.isOpen !== (type === FrameType.continuation)) throw unexpected(type);
    switch (type) {
      case FrameType.data:
        if (stream === streamId) this.#onData(flags, content);
        return;
      case FrameType.headers:
      case FrameType.continuation:
        if (stream === streamId) this.#onHeaders(type, flags, content);
        else this.#answers.add(numbersFrame(FrameType.reset, stream, ErrorCode.refusedStream));
        return;
      case FrameType.settings:
        if ((flags & Flag.ack) === 0) this.#onSettings(content);
        return;
      case FrameType.windowUpdate:
        this.#outgoing.addRoom(stream, numberIn(content));
        return;
      case FrameType.ping:
        if (content.length !== pingBytes) throw new ProtocolError(ErrorCode.frameSize, "it sent a ping of no size");
        if ((flags & Flag.ack) === 0) this.#answers.add(frame(FrameType.ping, Flag.ack, 0, content));
        else this.#onPong?.();
        return;
      case FrameType.reset:
        if (stream === streamId) this.#onCut(`it reset the stream with code ${numberIn(content)}`);
        return;
      case FrameType.goAway:
        this.#onGoAway(content);
        return;
      case FrameType.pushPromise:
        throw unexpected(type);
    }
  }

  #onData(flags: number, content: Buffer): void {
    if (this.#isOver) return;
    if (!this.#hasBegun || this.#hasPeerEnded) throw unexpected(FrameType.data);
    this.#taken += content.length;
    if (this.#taken >= ownWindowBytes / 2) {
      for (const each of [0, streamId]) this.#answers.add(numbersFrame(FrameType.windowUpdate, each, this.#taken));
      this.#taken = 0;
    }
    this.#messages.take((flags & Flag.padded) === 0 ? content : unpadded(content));
    if ((flags & Flag.endStream) !== 0) this.#onEnd();
  }

  #onHeaders(type: number, flags: number, content: Buffer): void {
    if (this.#hasPeerEnded) throw unexpected(type);
    let fields = content;
    if (type === FrameType.headers) {
      this.#blockFlags = flags;
      if ((flags & Flag.padded) !== 0) fields = unpadded(fields);
      if ((flags & Flag.priority) !== 0) fields = fields.subarray(5);
    }
    const block = this.#headers.add(fields, (flags & Flag.endHeaders) !== 0);
    if (block === undefined) return;
    const headers = decodeHeaders(block);
    this.#hasBegun = true;
    this.#listener.onHeaders(headers);
    if ((this.#blockFlags & Flag.endStream) !== 0) this.#onEnd();
  }

  #onEnd(): void {
    this.#hasPeerEnded = true;
    this.#listener.onEnd();
  }

  #onSettings(content: Buffer): void {
    for (const [id, value] of readSettings(content)) {
      if (id === Setting.initialWindowSize) this.#outgoing.setWindow(value);
    }
    this.#answers.add(frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)));
  }

  /** A peer that only says goodbye goes on with the stream. */
  #onGoAway(content: Buffer): void {
    const code = content.length < 8 ? ErrorCode.protocol : content.readUInt32BE(4);
    const isStreamLost = !this.#hasBegun && numberIn(content) < streamId;
    if (code !== ErrorCode.none || isStreamLost) this.#onCut(`it closed the connection with code ${code}`);
  }

  #refuse(error: ProtocolError): void {
    this.fail(error);
    // Who does not read what waits would not read this either, and would keep all of it here.
    if (this.#socket.writableNeedDrain) this.destroy();
    else {
      this.#socket.write(numbersFrame(FrameType.goAway, 0, streamId, error.code));
      this.#socket.destroySoon();
    }
  }

  #onCut(why: string): void {
    this.fail(new Error(why));
    this.destroy();
  }
}

function numberIn(content: Buffer): number {
  if (content.length < 4) throw new ProtocolError(ErrorCode.frameSize, "it sent a frame that is cut off");
  return content.readUInt32BE(0) & 0x7fff_ffff;
}

function unpadded(content: Buffer): Buffer {
  const padding = content[0] ?? 0;
  if (padding >= content.length) throw new ProtocolError(ErrorCode.protocol, "it sent a frame of padding only");
  return content.subarray(1, content.length - padding);
}
