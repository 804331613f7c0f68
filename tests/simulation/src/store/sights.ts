/**
 * When one replica first saw what is in the log, on its own clock: what every judgement of it must count from (I7, I8).
 */
export class Sights {
  readonly #seen = new Map<string, number>();
  readonly #sent = new Map<string, number>();
  readonly #loads: { readonly partition: number; readonly sequence: bigint; readonly atMs: number }[] = [];
  readonly #ackedAtMs = new Map<number, number>();

  /** It first tried to append this batch: what the batch says it knew by then. */
  noteSent(batchId: string, atMs: number): void {
    if (!this.#sent.has(batchId)) this.#sent.set(batchId, atMs);
  }

  sentAtMs(batchId: string): number | undefined {
    return this.#sent.get(batchId);
  }

  noteSeen(partition: number, sequence: bigint, atMs: number): void {
    const key = `${partition}/${sequence}`;
    if (!this.#seen.has(key)) this.#seen.set(key, atMs);
  }

  noteLoaded(partition: number, sequence: bigint, atMs: number): void {
    this.#loads.push({ partition, sequence, atMs });
  }

  /** An append of the partition was acknowledged to it. */
  noteAcked(partition: number, atMs: number): void {
    this.#ackedAtMs.set(partition, atMs);
  }

  /** When the last append of the partition was acknowledged to it. */
  ackedAtMs(partition: number): number | undefined {
    return this.#ackedAtMs.get(partition);
  }

  /** When it first saw the message, or loaded a snapshot that has it; undefined if it never did. */
  seenAtMs(partition: number, sequence: bigint): number | undefined {
    const seen = this.#seen.get(`${partition}/${sequence}`);
    if (seen !== undefined) return seen;
    return this.#loads.find((load) => load.partition === partition && load.sequence >= sequence)?.atMs;
  }
}
