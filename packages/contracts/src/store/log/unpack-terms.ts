import type { Cause, Event, Grant, GuardEvent, HoldDetails, HoldFacts, LeaseKey, OutcomeFacts } from "@tenure/core";
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
  const items = new Items(cursor, leftOut);
  while (!cursor.isAtEnd) {
    const event = items.next();
    if (event !== undefined) into.push(event);
  }
}

/** The items of a pack one after the other, with what later ones refer to. */
class Items {
  readonly #cursor: PackCursor;
  readonly #leftOut: LeftOut;
  #manner: Manner | undefined;
  #last: Omit<Grant, "sendNumber"> | undefined;
  #guarded: LeaseKey | undefined;

  constructor(cursor: PackCursor, leftOut: LeftOut) {
    this.#cursor = cursor;
    this.#leftOut = leftOut;
  }

  /** The next event; undefined if it is left out. */
  next(): Event | undefined {
    const kind = this.#cursor.number();
    switch (kind) {
      case packKinds.grantedAlike:
      case packKinds.granted:
        return this.#granted(kind);
      case packKinds.ended:
        return readEnded(this.#cursor);
      case packKinds.guardChanged:
        return this.#guardChanged();
      case packKinds.attemptGranted:
      case packKinds.attemptReleased:
      case packKinds.attemptNotHeld:
      case packKinds.attemptGuardedNew:
      case packKinds.attemptGuarded:
        return this.#attempt(kind);
      default:
        throw formatTooNew("packed terms", `an item is of kind ${kind}`);
    }
  }

  #granted(kind: number): Event {
    const cursor = this.#cursor;
    const lease = cursor.key();
    const id = cursor.number();
    const token = cursor.token();
    const transitions = cursor.number();
    if (kind === packKinds.granted) this.#manner = readManner(cursor, this.#leftOut);
    if (this.#manner === undefined) throw new Error("packed terms have no manner yet");
    const { author, facts } = this.#manner;
    this.#last = { lease, holdId: id, token };
    return { kind: "holdGranted", lease, hold: holdOf(id, token, facts), transitions, author, reason: "" };
  }

  #guardChanged(): Event | undefined {
    const { attempts, guarded } = this.#leftOut;
    if (guarded === true && attempts === true) {
      skipGuarded(this.#cursor);
      return undefined;
    }
    const changed = readGuarded(this.#cursor);
    this.#guarded = changed.lease;
    return guarded === true ? undefined : changed;
  }

  #attempt(kind: number): Event | undefined {
    if (this.#leftOut.attempts === true) {
      skipAttempt(this.#cursor, kind);
      return undefined;
    }
    const cursor = this.#cursor;
    const client = cursor.name();
    const number = cursor.number();
    const unsettled = cursor.number();
    if (unsettled > number) throw new Error(`attempt ${number} of packed terms settles below 0`);
    const digest = cursor.word();
    const author = cursor.name();
    const settledBelow = BigInt(number - unsettled);
    const outcome = this.#outcome(kind);
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

  #outcome(kind: number): OutcomeFacts {
    if (kind === packKinds.attemptGranted) {
      const sendNumber = this.#cursor.token();
      if (this.#last === undefined) throw new Error("an attempt of packed terms got no term");
      const { holdId, lease, token } = this.#last;
      return { kind: "granted", grants: [{ lease, holdId, token, sendNumber }] };
    }
    if (kind < packKinds.attemptGuardedNew) return { kind: "released", released: [kind === packKinds.attemptReleased] };
    if (this.#guarded === undefined) throw new Error("an attempt of packed terms changed no values");
    return { kind: "guardedChanged", lease: this.#guarded, existed: kind === packKinds.attemptGuarded };
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

function readGuarded(cursor: PackCursor): GuardEvent & Cause {
  const lease = cursor.key();
  const token = cursor.token();
  const holder = cursor.name();
  const author = cursor.name();
  const changes: GuardEvent["changes"][number][] = [];
  for (let left = cursor.number(); left > 0; left -= 1) changes.push({ key: cursor.text(), value: cursor.value() });
  return { kind: "guardChanged", lease, token, holder, changes, author, reason: "" };
}

function skipGuarded(cursor: PackCursor): void {
  cursor.skipText();
  cursor.number();
  cursor.skipName();
  cursor.skipName();
  for (let left = cursor.number(); left > 0; left -= 1) {
    cursor.skipText();
    cursor.skipValue();
  }
}

function skipAttempt(cursor: PackCursor, kind: number): void {
  cursor.skipName();
  cursor.number();
  cursor.number();
  cursor.word();
  cursor.skipName();
  if (kind === packKinds.attemptGranted) cursor.number();
}

function wordOf<Word extends string>(table: EnumTable<Word, number>, number: number): Word {
  const word = table.fromWire[number];
  if (word === undefined) throw formatTooNew("packed terms", `a word has the number ${number}`);
  return word;
}
