import { Flag, FrameType, frame, mostFrameBytes, numbersFrame, settingsFrame } from "./frames.ts";
import { encodeHeaders, type Headers } from "./header-block.ts";

/** The one stream of a connection. */
export const streamId = 1;

/** Room for the largest message, so that flow control does not cut it into round trips. */
export const ownWindowBytes = 4 * 1024 * 1024;

/** What either side may send before it was told otherwise. */
export const firstWindowBytes = 65_535;

/** What a client of HTTP/2 says before anything else. */
export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** Identifiers of settings. */
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  /** From the range for private use: this connection has one stream, and that is a session. Others must ignore it. */
  singleStream: 0xf7e1,
} as const;

const common = [
  [Setting.headerTableSize, 0],
  [Setting.initialWindowSize, ownWindowBytes],
] as const;

const wideWindow = numbersFrame(FrameType.windowUpdate, 0, ownWindowBytes - firstWindowBytes);

/** How a client opens a connection and its stream. Throws for headers that cannot be sent. */
export function clientOpening(headers: Headers): Buffer {
  const settings = settingsFrame([...common, [Setting.enablePush, 0], [Setting.singleStream, 1]]);
  return Buffer.concat([preface, settings, wideWindow, headersFrames(headers, false)]);
}

/** How a server opens a connection. */
export const serverOpening = Buffer.concat([settingsFrame([...common, [Setting.maxConcurrentStreams, 1]]), wideWindow]);

/** Headers of the stream, in as many frames as they need. */
export function headersFrames(headers: Headers, isEnd: boolean): Buffer {
  const block = encodeHeaders(headers);
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += mostFrameBytes) {
    const type = at === 0 ? FrameType.headers : FrameType.continuation;
    const isLast = at + mostFrameBytes >= block.length;
    const flags = (isLast ? Flag.endHeaders : 0) | (at === 0 && isEnd ? Flag.endStream : 0);
    frames.push(frame(type, flags, streamId, block.subarray(at, at + mostFrameBytes)));
  }
  return Buffer.concat(frames);
}
