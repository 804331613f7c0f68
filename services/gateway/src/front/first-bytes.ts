import { FrameType, headBytes, preface, readSettings, Setting } from "@tenure/session/http2";

/** The largest first settings that are looked at. */
const mostSettingsBytes = 600;

/**
 * Whether a connection that begins with these bytes says of itself, in its first settings, that it is one session;
 * undefined while that cannot be told. Another client, or a proxy between, says no such thing.
 */
export function isOneSession(bytes: Buffer): boolean | undefined {
  const known = Math.min(bytes.length, preface.length);
  if (Buffer.compare(bytes.subarray(0, known), preface.subarray(0, known)) !== 0) return false;
  const start = preface.length + headBytes;
  if (bytes.length < start) return undefined;
  const length = bytes.readUIntBE(preface.length, 3);
  if (bytes[preface.length + 3] !== FrameType.settings || length % 6 !== 0 || length > mostSettingsBytes) return false;
  if (bytes.length < start + length) return undefined;
  for (const [id] of readSettings(bytes.subarray(start, start + length))) if (id === Setting.singleStream) return true;
  return false;
}
