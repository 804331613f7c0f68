import { ResyncReason } from "@tenure/contracts";
import type { Timer } from "@tenure/kernel";
import type { ChangeSet } from "./change-set.ts";
import { watcherTooSlow } from "./faults.ts";
import { takePlace } from "./open-watches.ts";
import { heartbeatOf } from "./watch-options.ts";
import { type WatchContext, type WatchRequest, WatchView } from "./watch-view.ts";

type Result = IteratorResult<Uint8Array, undefined>;

interface Waiting {
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (reason: unknown) => void;
}

/** Why nothing more comes: the reader has finished, or a fault that it is told once. */
type Ending = { readonly reason: unknown } | "finished";

const finished: Result = { done: true, value: undefined };

/**
 * The responses of one watch, one at a time, to one reader. It opens when the first is asked for. A change that comes
 * while the reader waits is handed over at once; what comes faster than it reads is queued up to a bound, and a reader
 * that falls further behind gets what is queued and is then cut off with WATCHER_TOO_SLOW.
 */
export class WatchStream<Seen, Selector> implements AsyncIterableIterator<Uint8Array, undefined, undefined> {
  readonly #context: WatchContext<Seen, Selector>;
  readonly #request: WatchRequest<Selector>;
  readonly #signal: AbortSignal;
  /** Undefined before the first response is asked for. */
  #view: WatchView<Seen, Selector> | undefined;
  /** Leaves the hub; undefined when that is done. */
  #leave: (() => void) | undefined;
  /** The telling of a state, which goes before everything that is queued. */
  #story: AsyncGenerator<Uint8Array, void, undefined> | undefined;
  /** The rest of a batch that does not fit into one response. */
  #rest: Iterator<Uint8Array, void, undefined> | undefined;
  #queue: (ChangeSet | "gap")[] = [];
  #isHeartbeatDue = false;
  #waiting: Waiting | undefined;
  #ending: Ending | undefined;
  #timer: Timer | undefined;
  #saidAtMs = 0;

  constructor(context: WatchContext<Seen, Selector>, request: WatchRequest<Selector>, signal: AbortSignal) {
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#waiting !== undefined) return Promise.reject(new Error("a watch has one reader, who waits already"));
    if (this.#view === undefined && this.#ending === undefined) {
      try {
        this.#start();
      } catch (thrown) {
        this.#ending = "finished";
        return Promise.reject(thrown);
      }
    }
    if (this.#story !== undefined) return this.#tell(this.#story);
    const response = this.#take();
    if (response !== undefined) return Promise.resolve({ done: false, value: response });
    if (this.#story !== undefined) return this.#tell(this.#story);
    if (this.#ending !== undefined) return this.#end(this.#ending);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Ends the watch; what is queued is dropped. */
  async return(): Promise<Result> {
    this.#close("finished");
    return finished;
  }

  #start(): void {
    const { model, mostWatchers, open } = this.#context;
    this.#signal.throwIfAborted();
    const view = new WatchView(this.#context, this.#request);
    const heartbeatMs = heartbeatOf(this.#request.options);
    const place = takePlace(open, mostWatchers);
    const unfollow = model.hub.follow(
      {
        onChanges: (changes) => {
          if (view.isConcerned(changes)) this.#enqueue(changes);
        },
        onGap: () => this.#enqueue("gap"),
        onHalted: (partition, fault) => {
          if (view.partitions.includes(partition)) this.#close({ reason: fault });
        },
      },
      { leases: view.leases, wantsRenewals: view.includeRenewals },
    );
    const onAbort = () => this.#close({ reason: this.#signal.reason });
    this.#signal.addEventListener("abort", onAbort, { once: true });
    this.#leave = () => {
      place[Symbol.dispose]();
      unfollow();
      this.#timer?.cancel();
      this.#signal.removeEventListener("abort", onAbort);
    };
    this.#view = view;
    this.#story = view.begin(this.#signal);
    this.#saidAtMs = model.clock.now();
    this.#scheduleHeartbeat(heartbeatMs);
  }

  async #tell(story: AsyncGenerator<Uint8Array, void, undefined>): Promise<Result> {
    try {
      const step = await story.next();
      this.#saidAtMs = this.#context.model.clock.now();
      if (this.#ending === undefined && step.done !== true) return { done: false, value: step.value };
    } catch (thrown) {
      this.#close({ reason: thrown });
    }
    if (this.#story === story) this.#story = undefined;
    return this.next();
  }

  /** The next response, if there is one by now. A gap becomes a story. */
  #take(): Uint8Array | undefined {
    const view = this.#view;
    for (;;) {
      const response = this.#rest?.next();
      if (response !== undefined && response.done !== true) return this.#said(response.value);
      this.#rest = undefined;
      if (view === undefined) return undefined;
      const next = this.#queue.shift();
      if (next === "gap") {
        this.#story = view.startOver(ResyncReason.LOG_GAP, this.#signal);
        return undefined;
      }
      if (next !== undefined) {
        const answer = view.respond(next);
        if (answer instanceof Uint8Array) return this.#said(answer);
        this.#rest = answer;
      } else if (!this.#isHeartbeatDue || this.#ending !== undefined) return undefined;
      else return this.#said(view.heartbeat(this.#context.model.hub.revision));
    }
  }

  #said(response: Uint8Array): Uint8Array {
    this.#isHeartbeatDue = false;
    this.#saidAtMs = this.#context.model.clock.now();
    return response;
  }

  #enqueue(item: ChangeSet | "gap"): void {
    const { queuedPerWatcher } = this.#context;
    if (this.#ending !== undefined) return;
    if (this.#queue.length < queuedPerWatcher) this.#queue.push(item);
    else {
      this.#ending = { reason: watcherTooSlow(queuedPerWatcher) };
      this.#release();
    }
    this.#wake();
  }

  /** Hands over to a reader who waits, if there is something. */
  #wake(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    const response = this.#take();
    if (response !== undefined) waiting.resolve({ done: false, value: response });
    else if (this.#story !== undefined) waiting.resolve(this.#tell(this.#story));
    else if (this.#ending !== undefined) waiting.resolve(this.#end(this.#ending));
    else this.#waiting = waiting;
  }

  /** Nothing more is read: who waits is told at once. */
  #close(ending: Ending): void {
    if (this.#ending === undefined || ending === "finished") this.#ending = ending;
    this.#queue = [];
    this.#rest = undefined;
    this.#story = undefined;
    this.#release();
    this.#wake();
  }

  /** The last answer: the fault once, and then nothing more. */
  #end(ending: Ending): Promise<Result> {
    this.#release();
    this.#ending = "finished";
    return ending === "finished" ? Promise.resolve(finished) : Promise.reject(ending.reason);
  }

  #release(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  /** A reader who waits hears of silence at once, one who does not when it comes back. */
  #scheduleHeartbeat(intervalMs: number): void {
    const { clock } = this.#context.model;
    const dueMs = this.#saidAtMs + intervalMs - clock.now();
    this.#timer = clock.schedule(Math.max(dueMs, 1), () => {
      if (clock.now() - this.#saidAtMs >= intervalMs) {
        this.#isHeartbeatDue = true;
        this.#saidAtMs = clock.now();
        this.#wake();
      }
      this.#scheduleHeartbeat(intervalMs);
    });
  }
}
