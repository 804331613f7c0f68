import type { Clock, Fault, Timer } from "@tenure/kernel";
import { malformed, streamBroken, streamGap, streamSilent } from "./faults.ts";
import { decodeStreamFrame, type StreamFrame } from "./stream-frame.ts";

/** What a stream's caller needs of the connection. */
export interface IncomingStreamPort {
  /** Tells the server how many items it may have sent in all. */
  grant(instance: string, total: number): void;
  /** Tells the server, or all of them while it is unknown, that nobody listens any more. */
  cancel(instance: string | undefined): void;
  /** The stream is over for this side: called exactly once. */
  finished(): void;
}

/** What a stream is opened with. */
export interface IncomingStreamOptions<Item> {
  readonly method: string;
  readonly window: number;
  readonly beatMs: number;
  readonly clock: Clock;
  readonly decode: (bytes: Uint8Array) => Item;
}

/** Heartbeats that may be missed; the third ends the stream. */
export const missedBeatLimit = 3;

interface Waiter<Item> {
  readonly resolve: (result: IteratorResult<Item, undefined>) => void;
  readonly reject: (reason: Fault) => void;
}

/**
 * The caller's end of a server stream: numbers checked, items queued up to the window, credit granted as they are
 * consumed. A failure comes after the items that arrived before it, except the consumer's own cancel, which comes at
 * once.
 */
export class IncomingStream<Item> implements AsyncIterator<Item, undefined> {
  readonly #options: IncomingStreamOptions<Item>;
  readonly #port: IncomingStreamPort;
  readonly #items: Item[] = [];
  readonly #waiters: Waiter<Item>[] = [];
  #outcome: { readonly fault: Fault | undefined } | undefined;
  #instance: string | undefined;
  #lastNumber = 0;
  #consumed = 0;
  #granted: number;
  #isHeard = false;
  #isGranted = false;
  #missed = 0;
  #timer: Timer;

  constructor(options: IncomingStreamOptions<Item>, port: IncomingStreamPort) {
    this.#options = options;
    this.#port = port;
    this.#granted = options.window;
    this.#timer = this.#schedule();
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#items.length > 0) {
      const value = this.#items.shift() as Item;
      this.#consume();
      return Promise.resolve({ done: false, value });
    }
    if (this.#outcome === undefined) {
      return new Promise((resolve, reject) => void this.#waiters.push({ resolve, reject }));
    }
    const { fault } = this.#outcome;
    // A failure is thrown once; after it the iterator is simply done, as a generator's would be.
    this.#outcome = { fault: undefined };
    return fault === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(fault);
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    this.#items.length = 0;
    if (this.#outcome === undefined) this.#abandon(undefined);
    this.#outcome = { fault: undefined };
    return Promise.resolve({ done: true, value: undefined });
  }

  /** A frame from the server. */
  receive(bytes: Uint8Array): void {
    if (this.#outcome !== undefined) return;
    this.#isHeard = true;
    const frame = decodeStreamFrame(bytes);
    if (frame === undefined) {
      this.#abandon(streamBroken(this.#options.method, "a frame is malformed"));
      return;
    }
    if (frame.number !== this.#lastNumber + 1) {
      this.#abandon(streamGap(this.#options.method, this.#lastNumber + 1, frame.number));
      return;
    }
    this.#lastNumber = frame.number;
    this.#accept(frame);
  }

  /** The server or the connection has ended the stream; queued items are still delivered first. */
  fail(fault: Fault): void {
    this.#finish(fault);
  }

  /** The consumer gives up: nothing more is delivered, and the server is told. */
  cancel(fault: Fault): void {
    if (this.#outcome !== undefined) return;
    this.#items.length = 0;
    this.#abandon(fault);
  }

  #accept(frame: StreamFrame): void {
    if (frame.kind === "opened") this.#instance = frame.instance;
    else if (frame.kind === "end") this.#finish(undefined);
    else if (frame.kind === "items") this.#take(frame.items);
  }

  #take(encoded: readonly Uint8Array[]): void {
    for (const bytes of encoded) {
      let item: Item;
      try {
        item = this.#options.decode(bytes);
      } catch (cause) {
        this.#abandon(malformed(this.#options.method, "response", cause));
        return;
      }
      const waiter = this.#waiters.shift();
      if (waiter !== undefined) {
        this.#consume();
        waiter.resolve({ done: false, value: item });
      } else if (this.#items.push(item) > this.#options.window) {
        this.#abandon(streamBroken(this.#options.method, "it sent more items than it had credit for"));
        return;
      }
    }
  }

  /** Half a window is granted at a time: the server never waits for a consumer that keeps up, and grants stay few. */
  #consume(): void {
    this.#consumed += 1;
    if (this.#outcome !== undefined || this.#instance === undefined) return;
    if (this.#granted - this.#consumed > this.#options.window / 2) return;
    this.#sendGrant(this.#instance);
  }

  #sendGrant(instance: string): void {
    this.#granted = this.#consumed + this.#options.window;
    this.#isGranted = true;
    this.#port.grant(instance, this.#granted);
  }

  #schedule(): Timer {
    return this.#options.clock.schedule(this.#options.beatMs, () => this.#tick());
  }

  /** Misses are counted in ticks, not in time: a process that was paused reads its socket before the next tick. */
  #tick(): void {
    this.#missed = this.#isHeard ? 0 : this.#missed + 1;
    this.#isHeard = false;
    if (this.#missed >= missedBeatLimit) {
      const { method, beatMs } = this.#options;
      this.#abandon(streamSilent(method, "server", beatMs * missedBeatLimit));
      return;
    }
    if (!this.#isGranted && this.#instance !== undefined) this.#sendGrant(this.#instance);
    this.#isGranted = false;
    this.#timer = this.#schedule();
  }

  #abandon(fault: Fault | undefined): void {
    this.#finish(fault);
    this.#port.cancel(this.#instance);
  }

  #finish(fault: Fault | undefined): void {
    if (this.#outcome !== undefined) return;
    this.#timer.cancel();
    this.#outcome = { fault };
    this.#port.finished();
    const [first, ...others] = this.#waiters.splice(0);
    if (first === undefined) return;
    this.#outcome = { fault: undefined };
    if (fault === undefined) first.resolve({ done: true, value: undefined });
    else first.reject(fault);
    for (const waiter of others) waiter.resolve({ done: true, value: undefined });
  }
}
