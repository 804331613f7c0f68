import { type Member, Members } from "./members.ts";

/**
 * The calls that wait for one signal. A signal is often shared by thousands of calls, and removing one of thousands of
 * listeners from an EventTarget is a search through all of them; here it is the deletion of a place. Listeners that were
 * removed also go on pointing to those after them: one that the collector of young objects has let grow old keeps all
 * later ones, with their calls, until the next full collection.
 */
class AbortFanout {
  readonly #signal: AbortSignal;
  readonly #waiters = new Members<Waiter>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(waiter: Waiter): void {
    if (this.#waiters.size === 0) this.#signal.addEventListener("abort", this.#fire, { once: true });
    this.#waiters.add(waiter);
  }

  delete(waiter: Waiter): void {
    // A composed signal is kept alive by its listeners, so an idle one must not keep ours.
    if (this.#waiters.delete(waiter) && this.#waiters.size === 0) {
      this.#signal.removeEventListener("abort", this.#fire);
    }
  }

  readonly #fire = (): void => {
    const waiters = this.#waiters.all;
    for (const waiter of waiters) this.#waiters.delete(waiter);
    for (const { action } of waiters) action();
  };
}

interface Waiter extends Member {
  readonly action: () => void;
}

const fanouts = new WeakMap<AbortSignal, AbortFanout>();

/**
 * Runs `action` once when `signal` is aborted; returns what undoes that. The caller has checked that the signal is not
 * aborted yet.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  let fanout = fanouts.get(signal);
  if (fanout === undefined) {
    fanout = new AbortFanout(signal);
    fanouts.set(signal, fanout);
  }
  const joined = fanout;
  const waiter: Waiter = { action, place: -1 };
  joined.add(waiter);
  return () => joined.delete(waiter);
}
