import { Attempt } from "@tenure/contracts";
import { type Random, randomBase58 } from "@tenure/kernel";

/** Base58 digits of the text that tells this process's attempts from those of any other: 70 bits. */
const identityDigits = 12;

/** One made-up client: at most one change of it is under way at a time. */
export interface AttemptLane {
  readonly clientId: string;
  number: bigint;
}

/**
 * Attempts for changes that came without one, so that the change can be sent again across a change of owner. Each
 * change under way has a lane, which is a client of its own with one outcome to remember; a lane whose change is over
 * is used again. So the store remembers as many clients as there were changes at once, and not one for each change.
 */
export class AttemptLanes {
  readonly #identity: string;
  readonly #free: AttemptLane[] = [];
  #made = 0;

  constructor(random: Random) {
    this.#identity = randomBase58(random, identityDigits);
  }

  /** The encoded attempt of a new change, and the lane that is to be given back when the change is over. */
  take(): { readonly lane: AttemptLane; readonly encoded: Uint8Array } {
    const lane = this.#free.pop() ?? this.#make();
    lane.number += 1n;
    const attempt = { clientId: lane.clientId, number: lane.number, settledBelow: lane.number };
    return { lane, encoded: Attempt.encode(attempt).finish() };
  }

  /** The change is over: its attempt is never sent again. */
  giveBack(lane: AttemptLane): void {
    this.#free.push(lane);
  }

  #make(): AttemptLane {
    this.#made += 1;
    return { clientId: `made-up-${this.#identity}-${this.#made}`, number: 0n };
  }
}
