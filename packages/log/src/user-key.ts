import { createUser, fromSeed } from "@nats-io/nkeys";
import { Fault } from "@tenure/kernel";

/** A NATS user's key pair: the seed is the secret, the public key goes into the servers' configuration. */
export interface UserKey {
  /** Text that begins with `SU`. Whoever has it is the user. */
  readonly seed: string;
  /** Text that begins with `U`. */
  readonly publicKey: string;
}

/** A new NKEY user, from the machine's cryptographic chance. */
export function createUserKey(): UserKey {
  const pair = createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() };
}

/** The key pair of a seed as it stands in a file; white space around it is ignored. */
export function userKeyOf(seedText: string): UserKey {
  const seed = seedText.trim();
  try {
    const publicKey = fromSeed(new TextEncoder().encode(seed)).getPublicKey();
    if (publicKey.startsWith("U")) return { seed, publicKey };
  } catch {
    // The library's error may quote the seed: it is not passed on.
  }
  throw new Fault({
    code: "INVALID_ARGUMENT",
    reason: "NKEY_SEED_INVALID",
    message: "not the seed of a NATS user key: expected one line of text that begins with SU",
  });
}
