import type { Attempt } from "@tenure/contracts";

/** One change that may still be sent again. */
export interface OpenAttempt {
  /** As it travels with every send. */
  readonly attempt: Attempt;
  /** It will never be sent again; idempotent. */
  settle(): void;
}

/** A client id with at most one open attempt at a time. */
interface Lane {
  readonly clientId: string;
  number: bigint;
}

/**
 * Numbers the changes of one client. The store remembers few outcomes per client id, so each open change has a lane: an
 * id of its own, of which the store need remember one outcome, however long the change stays open (a wait may for days)
 * and however many others come and go meanwhile. A lane whose change is settled is used again, with a higher number,
 * which also makes the store refuse copies of the former change that were delayed on their way.
 */
export class AttemptLedger {
  readonly #clientId: string;
  readonly #free: Lane[] = [];
  #lanes = 0;

  constructor(clientId: string) {
    this.#clientId = clientId;
  }

  get openCount(): number {
    return this.#lanes - this.#free.length;
  }

  open(): OpenAttempt {
    const lane = this.#free.pop() ?? this.#makeLane();
    lane.number += 1n;
    return new LaneAttempt(lane, this.#free);
  }

  #makeLane(): Lane {
    this.#lanes += 1;
    return { clientId: `${this.#clientId}.${this.#lanes}`, number: 0n };
  }
}

class LaneAttempt implements OpenAttempt {
  readonly attempt: Attempt;
  readonly #lane: Lane;
  readonly #free: Lane[];
  #isOpen = true;

  constructor(lane: Lane, free: Lane[]) {
    const { clientId, number } = lane;
    this.attempt = { clientId, number, settledBelow: number };
    this.#lane = lane;
    this.#free = free;
  }

  settle(): void {
    if (this.#isOpen) this.#free.push(this.#lane);
    this.#isOpen = false;
  }
}
