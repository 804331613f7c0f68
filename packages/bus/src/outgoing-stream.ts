import type { Clock, Fault, Timer } from "@tenure/kernel";
import { payloadTooLarge, streamSilent } from "./faults.ts";
import { missedBeatLimit } from "./incoming-stream.ts";
import { encodeBeat, encodeEnd, encodeItems, encodeOpened, frameHeadBytes, itemHeadBytes } from "./stream-frame.ts";

/** What a stream's server needs of the connection and of the call. */
export interface OutgoingStreamPort {
  /** Sends a frame; `false` when the connection is down. */
  send(frame: Uint8Array): boolean;
  /** The largest frame that the NATS server takes now. */
  limitBytes(): number;
  /** The iterable threw, or yielded what cannot be sent: the caller is to be told. Called at most once. */
  fail(thrown: unknown): void;
  /** The caller is gone: the handler is to be aborted. Called at most once. */
  abandon(fault: Fault): void;
}

/** What a stream is served with. */
export interface OutgoingStreamOptions {
  readonly method: string;
  readonly instance: string;
  readonly window: number;
  readonly beatMs: number;
  readonly clock: Clock;
  readonly encode: (item: unknown) => Uint8Array;
}

/** Items that are ready together travel together, up to this many bytes: larger messages gain nothing. */
const batchBytes = 65_536;

/**
 * The server's end of a stream. The handler's iterable is pulled only while the caller has granted credit, so its
 * production is bounded by the window; what it yields without waiting travels in one message.
 */
export class OutgoingStream {
  readonly #options: OutgoingStreamOptions;
  readonly #port: OutgoingStreamPort;
  #granted: number;
  #pulled = 0;
  #number = 0;
  #batch: Uint8Array[] = [];
  #batchBytes = 0;
  #isFlushPlanned = false;
  #isOver = false;
  #isHeard = true;
  #isSent = false;
  #missed = 0;
  #timer: Timer | undefined;
  #onCredit: (() => void) | undefined;
  #iterator: AsyncIterator<unknown> | undefined;

  constructor(options: OutgoingStreamOptions, port: OutgoingStreamPort) {
    this.#options = options;
    this.#port = port;
    this.#granted = options.window;
  }

  /** Sends everything that `items` yields, then the end; resolves when the iterable has let go, whatever happened. */
  async run(items: AsyncIterable<unknown>): Promise<void> {
    this.#sendFrame(encodeOpened(this.#nextNumber(), this.#options.instance));
    this.#timer = this.#schedule();
    try {
      this.#iterator = items[Symbol.asyncIterator]();
      await this.#pump(this.#iterator);
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.stop();
  }

  /** The caller takes items up to `total`, and lives. */
  grant(total: number): void {
    this.#isHeard = true;
    if (total <= this.#granted) return;
    this.#granted = total;
    this.#onCredit?.();
  }

  /** Sends nothing more and lets the iterable go. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#onCredit?.();
    // A generator that waits inside itself returns when its own wait ends; it learns of that by the handler's signal.
    void this.#iterator?.return?.().catch(() => undefined);
  }

  async #pump(iterator: AsyncIterator<unknown>): Promise<void> {
    while (!this.#isOver) {
      if (this.#pulled >= this.#granted) {
        await this.#credit();
        continue;
      }
      this.#pulled += 1;
      const result = await iterator.next();
      if (this.#isOver) return;
      if (result.done === true) {
        this.#iterator = undefined;
        this.#flush();
        if (!this.#isOver) this.#sendFrame(encodeEnd(this.#nextNumber()));
        return;
      }
      this.#add(this.#options.encode(result.value));
    }
  }

  #credit(): Promise<void> {
    return new Promise((resolve) => {
      this.#onCredit = () => {
        this.#onCredit = undefined;
        resolve();
      };
    });
  }

  #add(item: Uint8Array): void {
    const limitBytes = this.#port.limitBytes() - frameHeadBytes - itemHeadBytes;
    if (item.byteLength > limitBytes) {
      this.#flush();
      this.#fail(payloadTooLarge(`an item of ${this.#options.method}`, item.byteLength, limitBytes, "UNKNOWN"));
      return;
    }
    const itemBytes = item.byteLength + itemHeadBytes;
    if (this.#batchBytes + itemBytes > Math.min(batchBytes, limitBytes)) this.#flush();
    this.#batch.push(item);
    this.#batchBytes += itemBytes;
    this.#planFlush();
  }

  /** A tick that is planned from a microtask runs after every promise that is ready: the batch then has all of it. */
  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    queueMicrotask(() => process.nextTick(() => this.#flush()));
  }

  #flush(): void {
    this.#isFlushPlanned = false;
    if (this.#batch.length === 0 || this.#isOver) return;
    const items = this.#batch;
    const itemsBytes = this.#batchBytes - items.length * itemHeadBytes;
    this.#batch = [];
    this.#batchBytes = 0;
    this.#sendFrame(encodeItems(this.#nextNumber(), items, itemsBytes));
  }

  #nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }

  /** A frame that was not sent is a gap; the connection's loss ends the stream by itself. */
  #sendFrame(frame: Uint8Array): void {
    this.#isSent = this.#port.send(frame);
  }

  #schedule(): Timer {
    return this.#options.clock.schedule(this.#options.beatMs, () => this.#tick());
  }

  #tick(): void {
    this.#missed = this.#isHeard ? 0 : this.#missed + 1;
    this.#isHeard = false;
    if (this.#missed >= missedBeatLimit) {
      const { method, beatMs } = this.#options;
      this.stop();
      this.#port.abandon(streamSilent(method, "caller", beatMs * missedBeatLimit));
      return;
    }
    if (!this.#isSent) this.#sendFrame(encodeBeat(this.#nextNumber()));
    this.#isSent = false;
    this.#timer = this.#schedule();
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return;
    this.#flush();
    this.stop();
    this.#port.fail(thrown);
  }
}
