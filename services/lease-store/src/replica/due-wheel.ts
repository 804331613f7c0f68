import type { Clock, Timer } from "@tenure/kernel";

const slotBits = 8;
const slots = 2 ** slotBits;
/** What one slot of each level spans, in ticks: 10 ms, 2.56 s and about eleven minutes. */
const spans = [1, slots, slots * slots] as const;
const tickMs = 10;
/** Entries that are no longer meant and may stand in the wheel beside as many that are. */
const staleEntries = 1_024;

/** Where a wheel notes the tick at which it looks at an item; 0 when it does not. The item itself is the best place. */
export interface TickNotes<Item> {
  get(item: Item): number;
  set(item: Item, tick: number): void;
}

/**
 * Very many items that each have to be looked at by some instant, for a few bytes each: a number that the item carries
 * and a place in a list. Looking early is allowed, and is what makes it cheap: an item that is due far ahead stands in a wide slot,
 * is looked at when that slot begins, and says anew when it wants to be looked at. So setting an item to a later
 * instant costs nothing. None is looked at more than a tick late while the event loop is free.
 */
export class DueWheel<Item> implements Disposable {
  readonly #clock: Clock;
  readonly #look: (item: Item) => number | undefined;
  readonly #originMs: number;
  readonly #ticks: TickNotes<Item>;
  #levels = emptyLevels<Item>();
  /** Items that will be looked at. */
  #size = 0;
  /** Entries of all slots, with those that are no longer meant. */
  #entries = 0;
  /** Every tick up to this one has been looked at. */
  #done = 0;
  #timer: { readonly tick: number; readonly timer: Timer } | undefined;
  #isClosed = false;

  /** `look` answers in how many ms the item has to be looked at again; undefined when it need not be. */
  constructor(clock: Clock, ticks: TickNotes<Item>, look: (item: Item) => number | undefined) {
    this.#clock = clock;
    this.#ticks = ticks;
    this.#look = look;
    this.#originMs = clock.now();
  }

  /** Items that will be looked at. */
  get size(): number {
    return this.#size;
  }

  /** Entries in its slots, with those that are no longer meant. */
  get entries(): number {
    return this.#entries;
  }

  /** Has an item looked at in at most `delayMs`, and a tick. */
  set(item: Item, delayMs: number): void {
    if (this.#isClosed) return;
    const exact = Math.ceil((this.#clock.now() + Math.max(delayMs, 0) - this.#originMs) / tickMs);
    const known = this.#ticks.get(item);
    if (known > 0 && known <= exact) return;
    if (known === 0) this.#size += 1;
    const tick = this.#put(item, Math.max(exact, this.#done + 1));
    if (this.#entries > 2 * this.#size + staleEntries) this.#sweep();
    if (this.#timer === undefined || tick < this.#timer.tick) this.#arm(tick);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    this.#size = 0;
    this.#entries = 0;
    this.#levels = emptyLevels();
  }

  /** Puts an item into the narrowest slot that reaches its tick; the tick that counts is where that slot begins. */
  #put(item: Item, exact: number): number {
    const level = exact - this.#done <= slots ? 0 : exact - this.#done <= slots * slots ? 1 : 2;
    const span = spans[level];
    const reach = (Math.floor(this.#done / span) + slots) * span;
    const tick = Math.min(Math.floor(exact / span) * span, reach);
    this.#ticks.set(item, tick);
    this.#slot(level, tick).push(item);
    this.#entries += 1;
    return tick;
  }

  /** Leaves out what is no longer meant. */
  #sweep(): void {
    const meant: { readonly item: Item; readonly tick: number }[] = [];
    for (const level of [0, 1, 2] as const) {
      const from = Math.floor(this.#done / spans[level]) + 1;
      for (let place = from; place < from + slots; place += 1) {
        const tick = place * spans[level];
        for (const item of this.#slot(level, tick)) {
          if (this.#ticks.get(item) !== tick) continue;
          meant.push({ item, tick });
          this.#ticks.set(item, 0);
        }
      }
    }
    this.#levels = emptyLevels();
    this.#entries = 0;
    for (const { item, tick } of meant) this.#put(item, tick);
  }

  #slot(level: 0 | 1 | 2, tick: number): Item[] {
    const list = this.#levels[level][Math.floor(tick / spans[level]) & (slots - 1)];
    if (list === undefined) throw new Error(`a wheel has no slot for tick ${tick}`);
    return list;
  }

  #arm(tick: number): void {
    this.#timer?.timer.cancel();
    const delayMs = this.#originMs + tick * tickMs - this.#clock.now();
    this.#timer = { tick, timer: this.#clock.schedule(delayMs, () => this.#turn()) };
  }

  /** The next tick at which a slot with entries begins. */
  #nextTick(): number | undefined {
    if (this.#entries === 0) return undefined;
    let next = Number.POSITIVE_INFINITY;
    for (const level of [0, 1, 2] as const) {
      const span = spans[level];
      const from = Math.floor(this.#done / span) + 1;
      for (let place = from; place < from + slots && place * span < next; place += 1) {
        if (this.#slot(level, place * span).length > 0) next = place * span;
      }
    }
    return next;
  }

  #turn(): void {
    const until = Math.floor((this.#clock.now() - this.#originMs) / tickMs);
    let tick = this.#nextTick();
    for (; tick !== undefined && tick <= until && !this.#isClosed; tick = this.#nextTick()) this.#begin(tick);
    this.#timer = undefined;
    if (tick !== undefined && !this.#isClosed) this.#arm(tick);
  }

  #begin(tick: number): void {
    this.#done = tick;
    for (const level of [0, 1, 2] as const) {
      if (tick % spans[level] !== 0) continue;
      const index = Math.floor(tick / spans[level]) & (slots - 1);
      const items = this.#levels[level][index] ?? [];
      if (items.length === 0) continue;
      this.#levels[level][index] = [];
      this.#entries -= items.length;
      for (const item of items) if (this.#ticks.get(item) === tick) this.#lookAt(item);
    }
  }

  #lookAt(item: Item): void {
    this.#ticks.set(item, 0);
    this.#size -= 1;
    const againMs = this.#look(item);
    if (againMs !== undefined) this.set(item, againMs);
  }
}

type Levels<Item> = readonly [Item[][], Item[][], Item[][]];

function emptyLevels<Item>(): Levels<Item> {
  const level = () => Array.from({ length: slots }, (): Item[] => []);
  return [level(), level(), level()];
}
