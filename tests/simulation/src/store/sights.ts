/**
 * When one replica first saw what is in the log, on its own clock: what every judgement of it must count from (I7, I8).
 */
export class Sights {
  readonly #seen = new Map<string, number>();
  readonly #seenLast = new Map<string, number>();
  readonly #sent = new Map<string, number>();
  readonly #loads: { readonly partition: number; readonly sequence: bigint; readonly atMs: number }[] = [];
  readonly #acks = new Map<number, number[]>();
  readonly #acked = new Set<string>();

  /** It is about to append this batch: what the batch says it knew by then. */
  noteSent(batchId: string, atMs: number): void {
    if (!this.#sent.has(batchId)) this.#sent.set(batchId, atMs);
  }

  sentAtMs(batchId: string): number | undefined {
    return this.#sent.get(batchId);
  }

  noteSeen(partition: number, sequence: bigint, atMs: number): void {
    const key = `${partition}/${sequence}`;
    if (!this.#seen.has(key)) this.#seen.set(key, atMs);
    this.#seenLast.set(key, atMs);
  }

  /** It took in a batch of another, which may be later than it was told of it: an owner learns last that it is none. */
  noteApplied(partition: number, sequence: bigint, batchId: string, atMs: number): void {
    if (!this.#sent.has(batchId)) this.#seenLast.set(`${partition}/${sequence}`, atMs);
  }

  noteLoaded(partition: number, sequence: bigint, atMs: number): void {
    this.#loads.push({ partition, sequence, atMs });
  }

  /** Whether it has loaded a snapshot of what comes after a position. */
  hasLoadedBeyond(partition: number, sequence: bigint): boolean {
    return this.#loads.some((load) => load.partition === partition && load.sequence > sequence);
  }

  /** A batch of its own was acknowledged to it; false if it had been before. */
  noteAcked(partition: number, batchId: string, atMs: number): boolean {
    if (this.#acked.has(batchId)) return false;
    this.#acked.add(batchId);
    const acks = this.#acks.get(partition);
    if (acks === undefined) this.#acks.set(partition, [atMs]);
    else acks.push(atMs);
    return true;
  }

  /** When the last append of the partition was acknowledged to it. */
  ackedAtMs(partition: number): number | undefined {
    return this.#acks.get(partition)?.at(-1);
  }

  /** When the first append after an instant was acknowledged to it; undefined if none was. */
  ackedAfterMs(partition: number, atMs: number): number | undefined {
    return this.#acks.get(partition)?.find((ackedAtMs) => ackedAtMs > atMs);
  }

  /** When it first saw the message, or loaded a snapshot that has it; undefined if it never did. */
  seenAtMs(partition: number, sequence: bigint): number | undefined {
    const seen = this.#seen.get(`${partition}/${sequence}`);
    if (seen !== undefined) return seen;
    return this.#loads.find((load) => load.partition === partition && load.sequence >= sequence)?.atMs;
  }

  /** When it first was told the message by the log; undefined if it never was. */
  toldAtMs(partition: number, sequence: bigint): number | undefined {
    return this.#seen.get(`${partition}/${sequence}`);
  }

  /** When it last saw the message anew: state that was loaded again counts from there. */
  lastSightMs(partition: number, sequence: bigint, batchId: string): number | undefined {
    const load = this.#loads.findLast((one) => one.partition === partition && one.sequence >= sequence);
    const sights = [this.#sent.get(batchId), this.#seenLast.get(`${partition}/${sequence}`), load?.atMs];
    const known = sights.filter((atMs) => atMs !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  }
}
