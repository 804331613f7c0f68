const slotsPerPage = 4_096;
const microsPerMs = 1_000;

/** What a slot reads as when nothing is known: before every instant. */
const nothing = -(2n ** 62n);

/**
 * Instants in memory that two threads share: each reads the newest without waiting for a message. Slots are added by
 * whole pages, which the other side must be given.
 */
export class SharedInstants {
  readonly #pages: BigInt64Array[] = [];

  /** How many slots there are. */
  get size(): number {
    return this.#pages.length * slotsPerPage;
  }

  /** Adds a page that the other thread made. */
  addPage(page: SharedArrayBuffer): void {
    this.#pages.push(new BigInt64Array(page));
  }

  /** Makes and adds a page; the other thread must add the same one. */
  makePage(): SharedArrayBuffer {
    const page = new SharedArrayBuffer(slotsPerPage * BigInt64Array.BYTES_PER_ELEMENT);
    this.addPage(page);
    return page;
  }

  /** The instant in a slot, in ms; `-Infinity` if there is none. */
  get(slot: number): number {
    const micros = Atomics.load(this.#pageOf(slot), slot % slotsPerPage);
    return micros === nothing ? Number.NEGATIVE_INFINITY : Number(micros) / microsPerMs;
  }

  /** Rounded down to the microsecond, which errs early. */
  set(slot: number, atMs: number): void {
    Atomics.store(this.#pageOf(slot), slot % slotsPerPage, microsOf(atMs));
  }

  /** Sets a slot that is earlier, whoever else writes into it at the same time. */
  raise(slot: number, atMs: number): void {
    const page = this.#pageOf(slot);
    const place = slot % slotsPerPage;
    const micros = microsOf(atMs);
    for (let seen = Atomics.load(page, place); seen < micros; ) {
      const found = Atomics.compareExchange(page, place, seen, micros);
      if (found === seen) return;
      seen = found;
    }
  }

  #pageOf(slot: number): BigInt64Array {
    const page = this.#pages[Math.floor(slot / slotsPerPage)];
    if (page === undefined) throw new RangeError(`there is no slot ${slot} among ${this.size}`);
    return page;
  }
}

/** The holds of one message have one instant. */
let last = { atMs: Number.NEGATIVE_INFINITY, micros: nothing };

function microsOf(atMs: number): bigint {
  if (atMs !== last.atMs) {
    last = { atMs, micros: Number.isFinite(atMs) ? BigInt(Math.floor(atMs * microsPerMs)) : nothing };
  }
  return last.micros;
}
