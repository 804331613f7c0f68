import { randomFillSync } from "node:crypto";

/** The only source of chance. A seeded one makes a run repeatable. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

/** Cryptographic chance, from a buffer that is refilled, so that a call costs nanoseconds. */
class SystemRandom implements Random {
  readonly #words = new Uint32Array(256);
  #used = this.#words.length;

  next(): number {
    if (this.#used === this.#words.length) {
      randomFillSync(this.#words);
      this.#used = 0;
    }
    const word = this.#words[this.#used] ?? 0;
    this.#used += 1;
    return word / 2 ** 32;
  }
}

/** The machine's chance. */
export const systemRandom: Random = new SystemRandom();

/** A repeatable sequence for simulations (mulberry32): the same seed gives the same numbers on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}

const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** `length` random base58 digits: no look-alikes, safe in names and subjects. */
export function randomBase58(random: Random, length: number): string {
  let text = "";
  for (let index = 0; index < length; index += 1) text += base58Digits[Math.floor(random.next() * base58Digits.length)];
  return text;
}
