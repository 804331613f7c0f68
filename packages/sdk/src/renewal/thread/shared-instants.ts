const slotsPerPage = 4_096;
const microsPerMs = 1_000;

/** What a slot reads as when nothing is known: before every instant. */
const nothing = -(2n ** 62n);

/**
 * Instants in memory that two threads share: one writes, the other reads the newest without waiting for a message. Slots
 * are added by whole pages, which the writer's side must be given.
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
    const micros = Number.isFinite(atMs) ? BigInt(Math.floor(atMs * microsPerMs)) : nothing;
    Atomics.store(this.#pageOf(slot), slot % slotsPerPage, micros);
  }

  #pageOf(slot: number): BigInt64Array {
    const page = this.#pages[Math.floor(slot / slotsPerPage)];
    if (page === undefined) throw new RangeError(`there is no slot ${slot} among ${this.size}`);
    return page;
  }
}
