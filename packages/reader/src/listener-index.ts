import type { Concerns, LeaseKey } from "@tenure/core";

const everything: Concerns = () => true;

/** Who listens to which leases: a change finds its listeners at once, however many others there are. */
export class ListenerIndex<Listener> {
  /** Who listens to no leases by name, with what concerns each. */
  readonly #toAll = new Map<Listener, Concerns>();
  readonly #byLease = new Map<LeaseKey, Set<Listener>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a listener to some leases, or to all that concern it when none are named; returns what removes it. */
  add(listener: Listener, leases: readonly LeaseKey[] | undefined, concerns = everything): () => void {
    this.#size += 1;
    let isThere = true;
    if (leases === undefined) this.#toAll.set(listener, concerns);
    else for (const lease of leases) this.#setOf(lease).add(listener);
    return () => {
      if (!isThere) return;
      isThere = false;
      this.#size -= 1;
      this.#toAll.delete(listener);
      for (const lease of leases ?? []) this.#remove(lease, listener);
    };
  }

  /** Whether anybody listens to a lease. */
  has(lease: LeaseKey): boolean {
    return this.#toAll.size > 0 || this.#byLease.has(lease);
  }

  /** Whether an event concerns anybody. */
  readonly concerns: Concerns = (event, record) => {
    if (this.#byLease.has(event.lease)) return true;
    for (const concerns of this.#toAll.values()) if (concerns(event, record)) return true;
    return false;
  };

  /** Adds everybody who listens to a lease. */
  collect(lease: LeaseKey, into: Set<Listener>): void {
    for (const listener of this.#byLease.get(lease) ?? []) into.add(listener);
  }

  /** Adds everybody who listens to all leases. */
  collectUnbound(into: Set<Listener>): void {
    for (const listener of this.#toAll.keys()) into.add(listener);
  }

  /** Everybody, each once. */
  all(): Set<Listener> {
    const everybody = new Set(this.#toAll.keys());
    for (const listeners of this.#byLease.values()) for (const listener of listeners) everybody.add(listener);
    return everybody;
  }

  #setOf(lease: LeaseKey): Set<Listener> {
    const known = this.#byLease.get(lease) ?? new Set();
    this.#byLease.set(lease, known);
    return known;
  }

  #remove(lease: LeaseKey, listener: Listener): void {
    const known = this.#byLease.get(lease);
    if (known === undefined) return;
    known.delete(listener);
    if (known.size === 0) this.#byLease.delete(lease);
  }
}
