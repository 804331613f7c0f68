import { hash32 } from "@tenure/core";
import { Fault } from "@tenure/kernel";

/** What a watch follows. */
export type WatchSubject = "leases" | "candidates";

/** Where a watch stands: everything up to `revision` was delivered. */
export interface WatchPlace {
  readonly revision: bigint;
  /** How many changes of one later batch were delivered too, when it did not fit into one response. */
  readonly part?: { readonly sequence: bigint; readonly changes: number } | undefined;
}

/** A place with what it belongs to. */
export interface ResumeToken extends WatchPlace {
  readonly subject: WatchSubject;
  readonly isOwnIncarnation: boolean;
}

const formatVersion = 2;
const subjects: readonly WatchSubject[] = ["leases", "candidates"];
const wholeBytes = 14;
const partBytes = 26;

/** Writes a place as the opaque token that clients send back. Equal places give equal tokens. */
export function encodeResumeToken(
  subject: WatchSubject,
  incarnationId: string,
  { part, revision }: WatchPlace,
): Uint8Array {
  const bytes = new Uint8Array(part === undefined ? wholeBytes : partBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, formatVersion);
  view.setUint8(1, subjects.indexOf(subject));
  view.setUint32(2, hash32(incarnationId));
  view.setBigUint64(6, revision);
  if (part !== undefined) {
    view.setBigUint64(wholeBytes, part.sequence);
    view.setUint32(wholeBytes + 8, part.changes);
  }
  return bytes;
}

/** Reads a token; INVALID_ARGUMENT with TOKEN_INVALID when it is none. */
export function decodeResumeToken(bytes: Uint8Array, incarnationId: string): ResumeToken {
  if (bytes.length !== wholeBytes && bytes.length !== partBytes) throw invalidToken(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const subject = subjects[view.getUint8(1)];
  if (view.getUint8(0) !== formatVersion || subject === undefined) throw invalidToken(bytes);
  const isOwnIncarnation = view.getUint32(2) === hash32(incarnationId);
  const revision = view.getBigUint64(6);
  if (bytes.length === wholeBytes) return { subject, isOwnIncarnation, revision };
  const part = { sequence: view.getBigUint64(wholeBytes), changes: view.getUint32(wholeBytes + 8) };
  return { subject, isOwnIncarnation, revision, part };
}

function invalidToken(bytes: Uint8Array): Fault {
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "TOKEN_INVALID",
    message: `the resume token of ${bytes.length} bytes is none that this service gave: start without one`,
    details: { applied: "NO" },
  });
}
