import { createHash } from "node:crypto";
import type { Claimant as CoreClaimant } from "@tenure/core";
import type { Duration } from "../../gen/google/protobuf/duration.ts";
import type { Claimant } from "../../gen/tenure/v1/claim.ts";
import type { Timing } from "../../gen/tenure/v1/hold.ts";
import type { Reading } from "../reading.ts";
import { participantFromWire, timingFromWire } from "../value/participant.ts";
import { hexOf, ownBytes } from "../value/text.ts";
import { checkDurations, checkHolderText, checkIdentityName, checkParticipant } from "./claimant-rules.ts";
import type { Draft } from "./header.ts";

const sha256Bytes = 32;

/** What a holder's secret is compared by: its SHA-256 in hexadecimal text; undefined when no secret was shown. */
export function renewKeyHashOf(secret: Uint8Array): string | undefined {
  if (secret.length === 0) return undefined;
  // A client shows one secret with all its calls, and they come in batches: the next is mostly the last one again.
  if (lastHashed === undefined || Buffer.compare(lastHashed.secret, secret) !== 0) {
    lastHashed = { secret: ownBytes(secret), hash: createHash("sha256").update(secret).digest("hex") };
  }
  return lastHashed.hash;
}

let lastHashed: { readonly secret: Uint8Array; readonly hash: string } | undefined;

/** Who claims. An empty holder becomes `defaultHolder`: the principal, or the candidate that accepts. */
export function claimantFromWire(
  reading: Reading,
  claimant: Claimant | undefined,
  defaultHolder: string,
): CoreClaimant {
  if (claimant === undefined) return { holder: defaultHolder };
  if (lastRead !== undefined && lastRead.defaultHolder === defaultHolder && isSame(lastRead.claimant, claimant)) {
    return lastRead.made;
  }
  const made = readClaimant(reading, claimant, defaultHolder);
  lastRead = reading.isBroken ? undefined : { claimant, defaultHolder, made };
  return made;
}

/** The claimant that was last found to be in order: a client claims again and again as the same one. */
let lastRead: { readonly claimant: Claimant; readonly defaultHolder: string; readonly made: CoreClaimant } | undefined;

/** Whether two claimants say the same; of those that say more than most, that is not found out. */
function isSame(one: Claimant, other: Claimant): boolean {
  return (
    one.holder === other.holder &&
    one.holderKey === other.holderKey &&
    one.identity === other.identity &&
    other.participant === undefined &&
    one.participant === undefined &&
    one.value.length + other.value.length === 0 &&
    Buffer.compare(one.renewKeyHash, other.renewKeyHash) === 0 &&
    isSameTiming(one.timing, other.timing)
  );
}

function isSameTiming(one: Timing | undefined, other: Timing | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    isSameDuration(one.leaseDuration, other.leaseDuration) &&
    isSameDuration(one.usableTerm, other.usableTerm) &&
    isSameDuration(one.renewInterval, other.renewInterval) &&
    isSameDuration(one.requestTimeout, other.requestTimeout)
  );
}

function isSameDuration(one: Duration | undefined, other: Duration | undefined): boolean {
  return one?.seconds === other?.seconds && one?.nanos === other?.nanos;
}

function readClaimant(reading: Reading, claimant: Claimant, defaultHolder: string): CoreClaimant {
  const { holder, holderKey, identity, participant, renewKeyHash, timing, value } = claimant;
  const made: Draft<CoreClaimant> = { holder: holder === "" ? defaultHolder : holder };
  if (holderKey !== "") made.holderKey = holderKey;
  if (renewKeyHash.length > 0) made.renewKeyHash = readHash(reading, renewKeyHash);
  if (identity !== "") made.identity = identity;
  if (participant !== undefined) made.participant = participantFromWire(participant);
  if (value.length > 0) made.value = ownBytes(value);
  if (timing !== undefined) made.timing = timingFromWire(reading, "claimant.timing", timing);
  checkTexts(reading, claimant);
  if (made.timing !== undefined) checkDurations(reading, "claimant.timing", made.timing);
  return made;
}

/** Rejects what a record could not keep, or nobody could look up. */
function checkTexts(reading: Reading, { holder, holderKey, identity, participant }: Claimant): void {
  checkHolderText(reading, "claimant.holder", holder);
  checkHolderText(reading, "claimant.holder_key", holderKey);
  checkIdentityName(reading, "claimant.identity", identity);
  if (participant !== undefined) checkParticipant(reading, "claimant.participant", participant);
}

function readHash(reading: Reading, hash: Uint8Array): string {
  if (hash.length !== sha256Bytes) {
    reading.reject("claimant.renew_key_hash", `must be empty or have ${sha256Bytes} bytes`, `${hash.length} bytes`);
  }
  return hexOf(hash);
}
