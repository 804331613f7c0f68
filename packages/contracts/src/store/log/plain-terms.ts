import type { Event, HoldDetails, HoldFacts } from "@tenure/core";
import { holdModes, holdOrigins, termEndReasons } from "../value/enums.ts";
import { PlainCursor } from "./plain-cursor.ts";

/** The fields of the two kinds in `Event`. */
export const holdGranted = 40;
export const holdEnded = 42;
const grantedTag = (holdGranted << 3) | 2;
const endedTag = (holdEnded << 3) | 2;

/**
 * The beginning or end of a plain term in the bytes of an `Event`, which is what most of a log says: read without what the
 * general decoder makes on the way. Undefined for anything else, and for whatever is not as this version writes it.
 */
export function readPlainTerm(bytes: Uint8Array, from: number, to: number, isSecretKept: boolean): Event | undefined {
  const cursor = new PlainCursor(bytes, from);
  let author = "";
  let reason = "";
  while (cursor.at < to && !cursor.isOdd) {
    const tag = cursor.number();
    if (tag === 0x0a) author = cursor.text(to);
    else if (tag === 0x12) reason = cursor.text(to);
    else {
      // What comes after the fact is not expected.
      if (cursor.end(to) !== to) return undefined;
      if (tag === grantedTag) return readGranted(cursor, to, isSecretKept, author, reason);
      return tag === endedTag ? readEnded(cursor, to, author, reason) : undefined;
    }
  }
  return undefined;
}

function readGranted(
  cursor: PlainCursor,
  to: number,
  isSecretKept: boolean,
  author: string,
  reason: string,
): Event | undefined {
  let lease: string | undefined;
  let hold: HoldFacts | undefined;
  let renewKeyHash = "";
  let transitions = 0;
  let lockDelayMs = 0;
  while (cursor.at < to && !cursor.isOdd) {
    const tag = cursor.number();
    if (tag === 0x0a) lease = cursor.key(to);
    else if (tag === 0x12) hold = readHold(cursor, to);
    else if (tag === 0x1a && isSecretKept) renewKeyHash = cursor.hex(to);
    else if (tag === 0x1a) cursor.skip(to);
    else if (tag === 0x20) transitions = cursor.uint32();
    else if (tag === 0x32) lockDelayMs = cursor.durationMs(to);
    else cursor.isOdd = true;
  }
  if (cursor.isOdd || cursor.at !== to || lease === undefined || hold === undefined) return undefined;
  const details: HoldDetails | undefined = renewKeyHash === "" ? undefined : { renewKeyHash };
  const facts = { ...hold, lockDelayMs };
  return {
    kind: "holdGranted",
    lease,
    hold: details === undefined ? facts : { ...facts, details },
    transitions,
    author,
    reason,
  };
}

function readHold(cursor: PlainCursor, within: number): HoldFacts | undefined {
  const to = cursor.end(within);
  let id = 0;
  let token = 0;
  let holder = "";
  let holderKey = "";
  let principal = "";
  let mode = 0;
  let units = 0;
  let origin = 0;
  let leaseDurationMs = 0;
  while (cursor.at < to && !cursor.isOdd) {
    switch (cursor.number()) {
      case 0x08:
        id = cursor.number();
        break;
      case 0x18:
        token = cursor.number();
        break;
      case 0x22:
        holder = cursor.text(to);
        break;
      case 0x2a:
        holderKey = cursor.text(to);
        break;
      case 0x32:
        principal = cursor.text(to);
        break;
      case 0x38:
        mode = cursor.number();
        break;
      case 0x40:
        units = cursor.uint32();
        break;
      case 0x48:
        origin = cursor.number();
        break;
      case 0x52:
        leaseDurationMs = cursor.durationMs(to);
        break;
      default:
        cursor.isOdd = true;
    }
  }
  const modeWord = holdModes.fromWire[mode];
  const originWord = holdOrigins.fromWire[origin];
  if (cursor.isOdd || cursor.at !== to || modeWord === undefined || originWord === undefined) {
    cursor.isOdd = true;
    return undefined;
  }
  return {
    id,
    token: BigInt(token),
    holder,
    holderKey,
    principal,
    mode: modeWord,
    units,
    origin: originWord,
    leaseDurationMs,
    lockDelayMs: 0,
  };
}

function readEnded(cursor: PlainCursor, to: number, author: string, reason: string): Event | undefined {
  let lease: string | undefined;
  let holdId = 0;
  let token = 0;
  let end = 0;
  let heldForMs = 0;
  let successor = "";
  let lockDelayMs = 0;
  while (cursor.at < to && !cursor.isOdd) {
    switch (cursor.number()) {
      case 0x0a:
        lease = cursor.key(to);
        break;
      case 0x10:
        holdId = cursor.number();
        break;
      case 0x18:
        token = cursor.number();
        break;
      case 0x20:
        end = cursor.number();
        break;
      case 0x2a:
        heldForMs = cursor.durationMs(to);
        break;
      case 0x32:
        successor = cursor.text(to);
        break;
      case 0x3a:
        lockDelayMs = cursor.durationMs(to);
        break;
      default:
        cursor.isOdd = true;
    }
  }
  const endReason = termEndReasons.fromWire[end];
  if (cursor.isOdd || cursor.at !== to || lease === undefined || endReason === undefined) return undefined;
  return {
    kind: "holdEnded",
    lease,
    holdId,
    token: BigInt(token),
    endReason,
    heldForMs,
    successor,
    lockDelayMs,
    author,
    reason,
  };
}
