import type { SimulatedProcess } from "../time/simulated-process.ts";

/** Numbers what a holder sends and remembers when: a deadline counts from the send that was proven (rule 11). */
export class SendNumbers {
  readonly #process: SimulatedProcess;
  readonly #sentAtMs = new Map<bigint, number>();
  #last = 0n;

  constructor(process: SimulatedProcess) {
    this.#process = process;
  }

  /** The number of what is sent now. */
  next(): bigint {
    this.#last += 1n;
    this.#sentAtMs.set(this.#last, this.#process.boot());
    return this.#last;
  }

  /** When the number was sent, on the boot clock; undefined if it never was. */
  sentAtMs(number: bigint): number | undefined {
    return this.#sentAtMs.get(number);
  }
}
