import { hash32 } from "@tenure/core";
import { Fault } from "@tenure/kernel";

/** What a watch follows. */
export type WatchSubject = "leases" | "candidates";

/** Where a watch stands: everything up to `revision` was delivered, of some partitions more. */
export interface WatchPlace {
  readonly revision: bigint;
  /** Partitions of which more than `revision` was delivered, with how far. */
  readonly ahead: ReadonlyMap<number, bigint>;
}

/** A place with what it belongs to. */
export interface ResumeToken extends WatchPlace {
  readonly subject: WatchSubject;
  readonly isOwnIncarnation: boolean;
}

const formatVersion = 1;
const subjects: readonly WatchSubject[] = ["leases", "candidates"];
const headBytes = 14;
const entryBytes = 10;
/** Keeps a token below 256 bytes. */
const mostEntries = 24;

/** Writes a place as the opaque token that clients send back. */
export function encodeResumeToken(subject: WatchSubject, incarnationId: string, place: WatchPlace): Uint8Array {
  const entries = [...place.ahead].filter(([, sequence]) => sequence > place.revision).slice(0, mostEntries);
  const bytes = new Uint8Array(headBytes + entries.length * entryBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, formatVersion);
  view.setUint8(1, subjects.indexOf(subject));
  view.setUint32(2, hash32(incarnationId));
  view.setBigUint64(6, place.revision);
  entries.forEach(([partition, sequence], index) => {
    view.setUint16(headBytes + index * entryBytes, partition);
    view.setBigUint64(headBytes + index * entryBytes + 2, sequence);
  });
  return bytes;
}

/** Reads a token; INVALID_ARGUMENT with TOKEN_INVALID when it is none. */
export function decodeResumeToken(bytes: Uint8Array, incarnationId: string): ResumeToken {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = (bytes.length - headBytes) / entryBytes;
  if (!Number.isInteger(entries) || entries < 0 || view.getUint8(0) !== formatVersion) throw invalidToken(bytes);
  const subject = subjects[view.getUint8(1)];
  if (subject === undefined) throw invalidToken(bytes);
  const ahead = new Map<number, bigint>();
  for (let index = 0; index < entries; index += 1) {
    const offset = headBytes + index * entryBytes;
    ahead.set(view.getUint16(offset), view.getBigUint64(offset + 2));
  }
  const isOwnIncarnation = view.getUint32(2) === hash32(incarnationId);
  return { subject, isOwnIncarnation, revision: view.getBigUint64(6), ahead };
}

function invalidToken(bytes: Uint8Array): Fault {
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "TOKEN_INVALID",
    message: `the resume token of ${bytes.length} bytes is none that this service gave: start without one`,
    details: { applied: "NO" },
  });
}
