import { ChangeKind, WatchMarkKind, type WatchPosition } from "@tenure/contracts";
import { Backoff } from "@tenure/kernel";
import type { Tenure } from "@tenure/sdk";
import { isTenureError } from "@tenure/sdk";
import type { Change } from "./kind.ts";

/** One event of a watch, whatever it is about. */
export interface WatchedEvent<Item> {
  readonly kind: ChangeKind;
  readonly item: Item | undefined;
}

/** One response of a watch. */
export interface Watched<Item> {
  readonly events: readonly WatchedEvent<Item>[];
  readonly position: WatchPosition | undefined;
}

const retry = { firstMs: 100, limitMs: 5_000 };

/**
 * Follows records for ever. A stream that breaks is begun anew with the present state, of which only what differs from
 * what was told before is told again; what went away meanwhile is told as removed. Ends when the signal is aborted.
 */
export async function* follow<Item>(
  tenure: Tenure,
  open: () => AsyncIterable<Watched<Item>>,
  name: (item: Item) => string,
  signal: AbortSignal,
): AsyncGenerator<Change<Item>, void, undefined> {
  const told = new Told<Item>(name);
  const backoff = new Backoff(retry, tenure.session.random);
  while (!signal.aborted) {
    try {
      for await (const { events, position } of open()) {
        backoff.reset();
        for (const event of events) yield* told.changesOf(event);
        yield* told.changesAt(position?.mark?.kind);
      }
    } catch (error) {
      if (signal.aborted) return;
      // One that reads too slowly is cut off, and begins anew like one whose stream broke.
      const isWorthAnother = isTenureError(error) && (error.retryable || error.code === "RESOURCE_EXHAUSTED");
      if (!isWorthAnother) throw error;
    }
    told.restart();
    await tenure.session.clock.sleep(backoff.next(), signal).catch(() => undefined);
  }
}

/** What a watcher was told. */
class Told<Item> {
  readonly #name: (item: Item) => string;
  readonly #known = new Map<string, Item>();
  #seen: Set<string> | undefined = new Set();

  constructor(name: (item: Item) => string) {
    this.#name = name;
  }

  restart(): void {
    this.#seen = new Set();
  }

  *changesOf({ item, kind }: WatchedEvent<Item>): Generator<Change<Item>, void, undefined> {
    if (item === undefined) return;
    const name = this.#name(item);
    if (kind === ChangeKind.REMOVED) {
      if (this.#known.delete(name)) yield { kind: "removed", item };
      return;
    }
    this.#seen?.add(name);
    const known = this.#known.get(name);
    this.#known.set(name, item);
    if (known === undefined) yield { kind: kind === ChangeKind.PRESENT ? "present" : "changed", item };
    else if (textOf(known) !== textOf(item)) yield { kind: "changed", item };
  }

  /** A mark says that the state is told anew, or that it is complete: who is not in it went while nobody listened. */
  *changesAt(mark: WatchMarkKind | undefined): Generator<Change<Item>, void, undefined> {
    if (mark === WatchMarkKind.RESYNC) this.restart();
    if (mark !== WatchMarkKind.SYNCED) return;
    const seen = this.#seen;
    this.#seen = undefined;
    if (seen === undefined) return;
    for (const [name, item] of this.#known) {
      if (seen.has(name)) continue;
      this.#known.delete(name);
      yield { kind: "removed", item };
    }
  }
}

function textOf(item: unknown): string {
  return JSON.stringify(item, (_, value) => (typeof value === "bigint" ? String(value) : value));
}
