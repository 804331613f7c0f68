import { createHash } from "node:crypto";
import type { Claimant as CoreClaimant } from "@tenure/core";
import type { Claimant } from "../../gen/tenure/v1/claim.ts";
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
