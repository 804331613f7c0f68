/** Listeners by the name of their event. One that throws disturbs neither the others nor the emitter. */
export class TypedListeners<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();

  /** Calls the listener for every later event of that name; returns what ends that. */
  add<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const named = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, named);
    named.add(listener);
    return () => void named.delete(listener);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? [])
      callSafely(listener as (event: Events[Name]) => void, event);
  }
}

/** Calls an application's listener; what it throws becomes an uncaught exception of its own, as with an EventTarget. */
export function callSafely<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
