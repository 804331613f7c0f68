/**
 * The calls that wait for one signal. A signal is often shared by thousands of calls, and removing one of thousands of
 * listeners from an EventTarget is a search through all of them; here it is a deletion from a set. Listeners that were
 * removed also go on pointing to those after them: one that the collector of young objects has let grow old keeps all
 * later ones, with their calls, until the next full collection.
 */
class AbortFanout {
  readonly #signal: AbortSignal;
  readonly #actions = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(action: () => void): void {
    if (this.#actions.size === 0) this.#signal.addEventListener("abort", this.#fire, { once: true });
    this.#actions.add(action);
  }

  delete(action: () => void): void {
    this.#actions.delete(action);
    // A composed signal is kept alive by its listeners, so an idle one must not keep ours.
    if (this.#actions.size === 0) this.#signal.removeEventListener("abort", this.#fire);
  }

  readonly #fire = (): void => {
    const actions = [...this.#actions];
    this.#actions.clear();
    for (const action of actions) action();
  };
}

const fanouts = new WeakMap<AbortSignal, AbortFanout>();

/**
 * Runs `action` once when `signal` is aborted; returns what undoes that. Each call needs an action of its own. The
 * caller has checked that the signal is not aborted yet.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  let fanout = fanouts.get(signal);
  if (fanout === undefined) {
    fanout = new AbortFanout(signal);
    fanouts.set(signal, fanout);
  }
  const joined = fanout;
  joined.add(action);
  return () => joined.delete(action);
}
