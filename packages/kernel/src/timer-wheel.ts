import type { Clock, Timer } from "./clock.ts";

const slotBits = 8;
const slots = 2 ** slotBits;
const slotMask = slots - 1;

interface Entry<Item> {
  readonly item: Item;
  /** The tick at which it is due; ticks are counted from the wheel's origin. */
  readonly tick: number;
  place: Set<Entry<Item>>;
  isFar: boolean;
}

/**
 * Very many coarse timers for the price of one: setting and deleting are O(1) whatever the number of items, and a
 * single timer of the clock drives all of them. An item is told never early and at most about one tick late. Each item
 * has at most one instant: setting it again moves it. Two levels of 256 slots reach 256 x 256 ticks ahead (about eleven
 * minutes at 10 ms); what is due later is looked at again when it comes into reach.
 */
export class TimerWheel<Item> implements Disposable {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #onDue: (item: Item) => void;
  readonly #originMs: number;
  readonly #entries = new Map<Item, Entry<Item>>();
  readonly #near = emptySlots<Item>();
  readonly #far = emptySlots<Item>();
  #farCount = 0;
  /** Every tick up to this one has been told. */
  #done = 0;
  #timer: { readonly tick: number; readonly timer: Timer } | undefined;
  #closed = false;

  /** `onDue` may set and delete items. */
  constructor(clock: Clock, onDue: (item: Item) => void, tickMs = 10) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#tickMs = tickMs;
    this.#originMs = clock.now();
  }

  /** How many items wait. */
  get size(): number {
    return this.#entries.size;
  }

  has(item: Item): boolean {
    return this.#entries.has(item);
  }

  /** Tells `item` once, `delayMs` from now or up to a tick later, instead of whenever it was set to before. */
  set(item: Item, delayMs: number): void {
    if (this.#closed) return;
    this.delete(item);
    const atTick = Math.ceil((this.#clock.now() + Math.max(delayMs, 0) - this.#originMs) / this.#tickMs);
    const tick = Math.max(atTick, this.#done + 1);
    const entry: Entry<Item> = { item, tick, place: slotOf(this.#near, tick), isFar: false };
    this.#entries.set(item, entry);
    this.#put(entry);
    this.#arm();
  }

  /** Forgets an item; false if it was not set. */
  delete(item: Item): boolean {
    const entry = this.#entries.get(item);
    if (entry === undefined) return false;
    this.#entries.delete(item);
    this.#take(entry);
    return true;
  }

  /** Forgets all items. */
  clear(): void {
    for (const item of [...this.#entries.keys()]) this.delete(item);
    this.#disarm();
  }

  [Symbol.dispose](): void {
    this.clear();
    this.#closed = true;
  }

  #put(entry: Entry<Item>): void {
    const isNear = entry.tick - this.#done <= slots;
    const group = Math.min(entry.tick >>> slotBits, (this.#done >>> slotBits) + slotMask);
    entry.place = isNear ? slotOf(this.#near, entry.tick) : slotOf(this.#far, group);
    entry.place.add(entry);
    entry.isFar = !isNear;
    if (entry.isFar) this.#farCount += 1;
  }

  #take(entry: Entry<Item>): void {
    entry.place.delete(entry);
    if (entry.isFar) this.#farCount -= 1;
  }

  #arm(): void {
    const tick = this.#nextTick();
    if (tick === undefined || tick === this.#timer?.tick) return;
    this.#disarm();
    const delayMs = this.#originMs + tick * this.#tickMs - this.#clock.now();
    this.#timer = { tick, timer: this.#clock.schedule(delayMs, () => this.#turn()) };
  }

  #disarm(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  /** The next tick at which something is due, or at which far items come near. */
  #nextTick(): number | undefined {
    if (this.#entries.size === 0) return undefined;
    const boundary = ((this.#done >>> slotBits) + 1) << slotBits;
    const until = this.#farCount > 0 ? boundary : this.#done + slots;
    for (let tick = this.#done + 1; tick <= until; tick += 1) if (slotOf(this.#near, tick).size > 0) return tick;
    return boundary;
  }

  #turn(): void {
    this.#timer = undefined;
    const until = Math.floor((this.#clock.now() - this.#originMs) / this.#tickMs);
    for (let tick = this.#done + 1; tick <= until && !this.#closed; tick += 1) this.#tell(tick);
    if (!this.#closed) this.#arm();
  }

  #tell(tick: number): void {
    if ((tick & slotMask) === 0) this.#bringNear(tick);
    const due = [...slotOf(this.#near, tick)];
    this.#done = tick;
    for (const entry of due) {
      // One that an earlier item of this tick deleted or moved is not told.
      if (this.#entries.get(entry.item) !== entry) continue;
      this.delete(entry.item);
      this.#onDue(entry.item);
    }
  }

  #bringNear(tick: number): void {
    const slot = slotOf(this.#far, tick >>> slotBits);
    const entries = [...slot];
    slot.clear();
    this.#farCount -= entries.length;
    for (const entry of entries) this.#put(entry);
  }
}

function emptySlots<Item>(): readonly Set<Entry<Item>>[] {
  return Array.from({ length: slots }, () => new Set<Entry<Item>>());
}

function slotOf<Item>(wheel: readonly Set<Entry<Item>>[], index: number): Set<Entry<Item>> {
  const slot = wheel[index & slotMask];
  if (slot === undefined) throw new Error(`a wheel has no slot ${index}`);
  return slot;
}
