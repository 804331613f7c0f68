import type { Event, Grant, HoldDetails, HoldFacts, OutcomeFacts } from "@tenure/core";
import { type EnumTable, holdModes, holdOrigins, termEndReasons } from "../value/enums.ts";
import { formatTooNew } from "./log-fault.ts";
import { packVersion } from "./pack-bytes.ts";
import { PackCursor } from "./pack-cursor.ts";
import { packKinds } from "./pack-terms.ts";
import type { LeftOut } from "./wire-batch.ts";

/** What terms of one claimant have in common. */
interface Manner {
  readonly author: string;
  readonly facts: Omit<HoldFacts, "id" | "token">;
}

/** Adds the events that packed terms stand for, in their order, but for those that are left out. Malformed bytes throw. */
export function unpackTerms(bytes: Uint8Array, leftOut: LeftOut, into: Event[]): void {
  const cursor = new PackCursor(bytes);
  const version = cursor.number();
  if (version !== packVersion) throw formatTooNew("packed terms", `their layout is ${version}, not ${packVersion}`);
  let manner: Manner | undefined;
  let last: Omit<Grant, "sendNumber"> | undefined;
  while (!cursor.isAtEnd) {
    const kind = cursor.number();
    if (kind === packKinds.granted || kind === packKinds.grantedAlike) {
      const lease = cursor.key();
      const id = cursor.number();
      const token = cursor.token();
      const transitions = cursor.number();
      if (kind === packKinds.granted) manner = readManner(cursor, leftOut);
      if (manner === undefined) throw new Error("packed terms have no manner yet");
      const { author, facts } = manner;
      last = { lease, holdId: id, token };
      into.push({ kind: "holdGranted", lease, hold: holdOf(id, token, facts), transitions, author, reason: "" });
    } else if (kind === packKinds.ended) into.push(readEnded(cursor));
    else {
      const attempt = readAttempt(cursor, kind, last);
      if (leftOut.attempts !== true) into.push(attempt);
    }
  }
}

/** A term of a manner. Property by property: a copy of an object costs several times that. */
function holdOf(id: number, token: bigint, facts: Manner["facts"]): HoldFacts {
  const { details, holder, holderKey, leaseDurationMs, lockDelayMs, mode, origin, principal, units } = facts;
  const hold = { id, token, holder, holderKey, principal, mode, units, origin, leaseDurationMs, lockDelayMs };
  return details === undefined ? hold : Object.assign(hold, { details });
}

function readManner(cursor: PackCursor, leftOut: LeftOut): Manner {
  const author = cursor.name();
  const holder = cursor.name();
  const holderKey = cursor.name();
  const principal = cursor.name();
  const renewKeyHash = cursor.name();
  const identity = cursor.name();
  const mode = wordOf(holdModes, cursor.number());
  const units = cursor.number();
  const origin = wordOf(holdOrigins, cursor.number());
  const leaseDurationMs = cursor.durationMs();
  const lockDelayMs = cursor.durationMs();
  const details = detailsOf(leftOut.secrets === true ? "" : renewKeyHash, identity);
  const facts = { holder, holderKey, principal, mode, units, origin, leaseDurationMs, lockDelayMs };
  return { author, facts: details === undefined ? facts : { ...facts, details } };
}

function detailsOf(renewKeyHash: string, identity: string): HoldDetails | undefined {
  if (identity === "") return renewKeyHash === "" ? undefined : { renewKeyHash };
  return renewKeyHash === "" ? { identity } : { identity, renewKeyHash };
}

function readEnded(cursor: PackCursor): Event {
  const lease = cursor.key();
  const holdId = cursor.number();
  const token = cursor.token();
  const author = cursor.name();
  const endReason = wordOf(termEndReasons, cursor.number());
  const heldForMs = cursor.durationMs();
  const successor = cursor.name();
  const lockDelayMs = cursor.durationMs();
  return {
    kind: "holdEnded",
    lease,
    holdId,
    token,
    endReason,
    heldForMs,
    successor,
    lockDelayMs,
    author,
    reason: "",
  };
}

function readAttempt(cursor: PackCursor, kind: number, last: Omit<Grant, "sendNumber"> | undefined): Event {
  if (kind < packKinds.attemptGranted || kind > packKinds.attemptNotHeld) {
    throw formatTooNew("packed terms", `an item is of kind ${kind}`);
  }
  const client = cursor.name();
  const number = cursor.number();
  const unsettled = cursor.number();
  if (unsettled > number) throw new Error(`attempt ${number} of packed terms settles below 0`);
  const digest = cursor.word();
  const author = cursor.name();
  const settledBelow = BigInt(number - unsettled);
  const outcome = kind === packKinds.attemptGranted ? grantedAs(last, cursor.number()) : releasedAs(kind);
  return {
    kind: "attemptRecorded",
    client,
    number: BigInt(number),
    settledBelow,
    digest,
    outcome,
    author,
    reason: "",
  };
}

function grantedAs(last: Omit<Grant, "sendNumber"> | undefined, sendNumber: number): OutcomeFacts {
  if (last === undefined) throw new Error("an attempt of packed terms got no term");
  const { holdId, lease, token } = last;
  return { kind: "granted", grants: [{ lease, holdId, token, sendNumber: BigInt(sendNumber) }] };
}

function releasedAs(kind: number): OutcomeFacts {
  return { kind: "released", released: [kind === packKinds.attemptReleased] };
}

function wordOf<Word extends string>(table: EnumTable<Word, number>, number: number): Word {
  const word = table.fromWire[number];
  if (word === undefined) throw formatTooNew("packed terms", `a word has the number ${number}`);
  return word;
}
