import { abandonWait, beatWaiter, type OwnedPartition, type Settled } from "@tenure/core";
import { type Fault, NamedItems } from "@tenure/kernel";
import type { Call, CommandCall } from "./call.ts";

/** A waiting claim is any command call; what it answers is its own matter. */
type Waiting = CommandCall<unknown>;

/**
 * The calls that stand in a queue of an owned partition, by the name of their wait. A claim that was sent again waits
 * under the same name, and all calls of a name get its answer. When the last of them has gone the wait is abandoned.
 */
export class WaitingCalls {
  readonly #calls = new NamedItems<Waiting[]>();
  readonly #onAdded: (call: Waiting) => void;

  /** Tells of each call that begins to wait. */
  constructor(onAdded: (call: Waiting) => void) {
    this.#onAdded = onAdded;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(waiterId: string, call: Waiting): void {
    call.waiterId = waiterId;
    const calls = this.#calls.get(waiterId);
    if (calls === undefined) this.#calls.set(waiterId, [call]);
    else if (!calls.includes(call)) calls.push(call);
    this.#onAdded(call);
  }

  /** Takes out the calls of waits that are over, with their answer. */
  settle(settled: readonly Settled[]): readonly Waiting[] {
    return settled.flatMap(({ reply, waiter }) => {
      const calls = this.#calls.delete(waiter.id) ?? [];
      for (const call of calls) call.settle(reply);
      return calls;
    });
  }

  /** Shows that the callers of plain claims are still there. */
  beat(owned: OwnedPartition, now: number): void {
    for (const [first] of this.#calls.all) {
      if (first?.waiterId !== undefined && isPlain(first)) beatWaiter(owned, first.waiterId, 0n, now);
    }
  }

  /** The caller has gone; the wait goes with the last of its calls. */
  abandon(owned: OwnedPartition, call: Waiting): void {
    const { waiterId } = call;
    const calls = waiterId === undefined ? undefined : this.#calls.get(waiterId);
    const place = calls?.indexOf(call) ?? -1;
    if (waiterId === undefined || calls === undefined || place < 0) return;
    calls.splice(place, 1);
    if (calls.length > 0) return;
    this.#calls.delete(waiterId);
    abandonWait(owned, waiterId);
  }

  /** Fails every call with the fault. */
  failAll(fault: Fault): void {
    for (const calls of this.#calls.all) for (const call of calls) (call as Call).fail(fault);
    this.#calls.clear();
  }
}

/**
 * Whether a claim comes from a client that counts nothing. It has no beats: its open call is its sign of life, and its
 * term becomes usable with its first acknowledged renewal.
 */
function isPlain({ command }: Waiting): boolean {
  return command.kind === "acquire" && command.sendNumber === 0n && (command.wait?.beatNumber ?? 0n) === 0n;
}
