import type { Cause, Event, GuardEvent, HoldEvent, HoldFacts, OutcomeFacts, PartitionEvent } from "@tenure/core";
import { maxSeconds } from "../../duration.ts";
import { holdModes, holdOrigins, termEndReasons } from "../value/enums.ts";
import { PackBytes } from "./pack-bytes.ts";

/** The kinds of items, as `tenure.log.v1.Event.packed_terms` has them. */
export const packKinds = {
  grantedAlike: 1,
  granted: 2,
  ended: 3,
  attemptGranted: 4,
  attemptReleased: 5,
  attemptNotHeld: 6,
  guardChanged: 7,
  attemptGuardedNew: 8,
  attemptGuarded: 9,
} as const;

type Granted = Extract<HoldEvent, { readonly kind: "holdGranted" }> & Cause;
type Ended = Extract<HoldEvent, { readonly kind: "holdEnded" }> & Cause;
type Recorded = Extract<PartitionEvent, { readonly kind: "attemptRecorded" }> & Cause;

const mostUint32 = 2 ** 32 - 1;
const mostDurationMs = maxSeconds * 1000;
const mostSafe = BigInt(Number.MAX_SAFE_INTEGER);

/** Facts about terms and what was done under them, in packed form: what most of a log says, in a fraction of the room and the time of single events. */
export class TermPack {
  readonly #bytes = new PackBytes();
  /** The last term that began in this pack. */
  #last: Granted | undefined;
  /** The lease whose guarded values this pack changed last. */
  #guarded: string | undefined;

  /** Takes the next event; false if it has no packed form here, and then it was not taken. */
  add(event: Event): boolean {
    if (event.reason !== "") return false;
    switch (event.kind) {
      case "holdGranted":
        return this.#addGranted(event);
      case "holdEnded":
        return this.#addEnded(event);
      case "guardChanged":
        return this.#addGuarded(event);
      case "attemptRecorded":
        return this.#addAttempt(event);
      default:
        return false;
    }
  }

  /** What was added since the last time; undefined if nothing was. */
  take(): Uint8Array | undefined {
    this.#forget();
    return this.#bytes.isEmpty ? undefined : this.#bytes.take();
  }

  /** Forgets what was added. */
  clear(): void {
    this.#forget();
    this.#bytes.clear();
  }

  #forget(): void {
    this.#last = undefined;
    this.#guarded = undefined;
  }

  #addGranted(event: Granted): boolean {
    const { hold, lease, transitions } = event;
    if (!isPlain(hold) || !isUint32(transitions)) return false;
    const isAlike = this.#last !== undefined && isSameManner(this.#last, event);
    const bytes = this.#bytes;
    bytes.item(isAlike ? packKinds.grantedAlike : packKinds.granted);
    bytes.text(lease);
    bytes.number(hold.id);
    bytes.number(Number(hold.token));
    bytes.number(transitions);
    if (!isAlike) this.#addManner(event);
    this.#last = event;
    return true;
  }

  #addManner({ author, hold }: Granted): void {
    const bytes = this.#bytes;
    bytes.name(author);
    bytes.name(hold.holder);
    bytes.name(hold.holderKey);
    bytes.name(hold.principal);
    bytes.name(hold.details?.renewKeyHash ?? "");
    bytes.name(hold.details?.identity ?? "");
    bytes.number(holdModes.toWire[hold.mode]);
    bytes.number(hold.units);
    bytes.number(holdOrigins.toWire[hold.origin]);
    bytes.duration(hold.leaseDurationMs);
    bytes.duration(hold.lockDelayMs);
  }

  #addEnded({ author, endReason, heldForMs, holdId, lease, lockDelayMs, successor, token }: Ended): boolean {
    if (!isSafe(token) || !isId(holdId) || !isDuration(heldForMs) || !isDuration(lockDelayMs)) return false;
    const bytes = this.#bytes;
    bytes.item(packKinds.ended);
    bytes.text(lease);
    bytes.number(holdId);
    bytes.number(Number(token));
    bytes.name(author);
    bytes.number(termEndReasons.toWire[endReason]);
    bytes.duration(heldForMs);
    bytes.name(successor);
    bytes.duration(lockDelayMs);
    return true;
  }

  #addGuarded({ author, changes, holder, lease, token }: GuardEvent & Cause): boolean {
    if (!isSafe(token)) return false;
    const bytes = this.#bytes;
    bytes.item(packKinds.guardChanged);
    bytes.text(lease);
    bytes.number(Number(token));
    bytes.name(holder);
    bytes.name(author);
    bytes.number(changes.length);
    for (const { key, value } of changes) {
      bytes.text(key);
      bytes.value(value);
    }
    this.#guarded = lease;
    return true;
  }

  #addAttempt({ author, client, digest, number, outcome, settledBelow }: Recorded): boolean {
    if (!isSafe(number) || settledBelow < 0n || settledBelow > number) return false;
    const kind = this.#kindOf(outcome);
    if (kind === undefined) return false;
    const bytes = this.#bytes;
    bytes.item(kind);
    bytes.name(client);
    bytes.number(Number(number));
    bytes.number(Number(number - settledBelow));
    bytes.word(digest);
    bytes.name(author);
    if (outcome.kind === "granted") bytes.number(Number(outcome.grants[0]?.sendNumber));
    return true;
  }

  /** What kind of item says what an attempt did; undefined if it takes more than an item has. */
  #kindOf(outcome: OutcomeFacts): number | undefined {
    switch (outcome.kind) {
      case "granted": {
        const [grant] = outcome.grants;
        const { hold, lease } = this.#last ?? {};
        if (grant === undefined || outcome.grants.length > 1 || !isSafe(grant.sendNumber)) return undefined;
        if (grant.lease !== lease || grant.holdId !== hold?.id || grant.token !== hold.token) return undefined;
        return packKinds.attemptGranted;
      }
      case "released":
        if (outcome.released.length !== 1) return undefined;
        return outcome.released[0] === true ? packKinds.attemptReleased : packKinds.attemptNotHeld;
      case "guardedChanged":
        if (outcome.lease !== this.#guarded) return undefined;
        return outcome.existed ? packKinds.attemptGuarded : packKinds.attemptGuardedNew;
      default:
        return undefined;
    }
  }
}

/** Whether a term has only what the packed form has room for. */
function isPlain({ details, id, leaseDurationMs, lockDelayMs, token, units }: HoldFacts): boolean {
  for (const key in details) {
    if (key !== "renewKeyHash" && key !== "identity") return false;
    // An empty one would come back as none.
    if (!details[key]) return false;
  }
  return isSafe(token) && isId(id) && isUint32(units) && isDuration(leaseDurationMs) && isDuration(lockDelayMs);
}

function isSameManner(one: Granted, other: Granted): boolean {
  const { hold } = one;
  const { hold: its } = other;
  return (
    one.author === other.author &&
    hold.holder === its.holder &&
    hold.holderKey === its.holderKey &&
    hold.principal === its.principal &&
    hold.mode === its.mode &&
    hold.units === its.units &&
    hold.origin === its.origin &&
    hold.leaseDurationMs === its.leaseDurationMs &&
    hold.lockDelayMs === its.lockDelayMs &&
    hold.details?.renewKeyHash === its.details?.renewKeyHash &&
    hold.details?.identity === its.details?.identity
  );
}

function isSafe(value: bigint): boolean {
  return value >= 0n && value <= mostSafe;
}

function isId(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isUint32(value: number): boolean {
  return isId(value) && value <= mostUint32;
}

function isDuration(durationMs: number): boolean {
  return durationMs >= 0 && durationMs <= mostDurationMs;
}
