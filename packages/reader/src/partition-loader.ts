import { keepLastRead, lastReadOf, type PartitionState } from "@tenure/core";
import { Backoff, type Random } from "@tenure/kernel";
import { type LoadPorts, loadPartition } from "./load-partition.ts";

/** What a loader stands on. */
export interface LoaderPorts extends LoadPorts {
  readonly random: Random;
}

/** What becomes of a load, told once; neither is told of one that was overtaken or stopped. */
export interface LoadListener {
  /** The state, which remembers what had been read before it. The tail is to follow it from its last sequence. */
  onLoaded(state: PartitionState): void;
  /** The log has lost what had been read of it. */
  onBroken(why: string): void;
}

const retryBackoff = { firstMs: 100, limitMs: 5_000 };

/**
 * Loads one partition from its newest snapshot, as often as it has to be, and knows when the reader is back where it
 * was. Only the newest load counts: one that ends after another has begun gives nothing, so that an older state never
 * takes the place of a newer one.
 */
export class PartitionLoader implements AsyncDisposable {
  readonly #partition: number;
  readonly #ports: LoaderPorts;
  readonly #incarnationId: string;
  readonly #onFault: (thrown: unknown) => void;
  readonly #stop = new AbortController();
  /** The number of the newest load. */
  #newest = 0;
  #isLoaded = false;
  #isCaughtUp = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    partition: number,
    ports: LoaderPorts,
    incarnationId: string,
    onFault: (partition: number, doing: string, fault: unknown) => void,
  ) {
    this.#partition = partition;
    this.#ports = ports;
    this.#incarnationId = incarnationId;
    this.#onFault = (thrown) => onFault(partition, "load the partition", thrown);
  }

  /** Whether there is a state that what the tail brings can follow. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Loads, and tries until it succeeds; takes nothing when another load has begun. Rejects when it is stopped. */
  async load(take: (state: PartitionState) => void): Promise<void> {
    this.#newest += 1;
    const number = this.#newest;
    this.#isLoaded = false;
    this.#isCaughtUp = false;
    const waits = new Backoff(retryBackoff, this.#ports.random);
    for (;;) {
      const state = await this.#tryLoad(number);
      this.#stop.signal.throwIfAborted();
      if (number !== this.#newest) return;
      if (state !== undefined) {
        this.#isLoaded = true;
        take(state);
        return;
      }
      await this.#ports.clock.sleep(waits.next(), this.#stop.signal);
    }
  }

  /** Loads anew in place of a state that cannot be followed any more. */
  reload(instead: PartitionState, listener: LoadListener): void {
    const lastRead = lastReadOf(instead);
    const loading = this.load((state) => {
      const broken = keepLastRead(state, lastRead);
      if (broken === undefined) listener.onLoaded(state);
      else listener.onBroken(broken.why);
    });
    this.#running = Promise.all([this.#running, loading.catch(() => undefined)]);
  }

  /** The tail has told everything that was there when it began. */
  noteCaughtUp(): void {
    this.#isCaughtUp = this.#isLoaded;
  }

  /**
   * Whether a state shows everything that the log had and everything that was ever read of it. The tail alone does not
   * say so: a server that lags may end before what another had told.
   */
  hasCaughtUp({ lastRead }: PartitionState): boolean {
    return this.#isLoaded && this.#isCaughtUp && lastRead === undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error(`partition ${this.#partition} is not followed any more`));
    await this.#running;
  }

  async #tryLoad(number: number): Promise<PartitionState | undefined> {
    try {
      return await loadPartition(this.#ports, this.#partition, this.#incarnationId);
    } catch (thrown) {
      if (number === this.#newest && !this.#stop.signal.aborted) this.#onFault(thrown);
      return undefined;
    }
  }
}
