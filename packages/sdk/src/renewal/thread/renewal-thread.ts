import type { SessionPush } from "@tenure/contracts";
import { Backoff, type Clock, type HolderClock, type Random, type Timer } from "@tenure/kernel";
import { TenureError } from "../../errors.ts";
import type { Keeping, KeepListener, KeptHold } from "../../session/session.ts";
import { HoldBook } from "../hold-book.ts";
import type { Keeper, Told } from "../keeper.ts";
import { HoldSlots } from "./hold-slots.ts";
import { errorFromPlain, type ThreadOrder, type ThreadReport, type ThreadStart } from "./messages.ts";
import { OrderQueue } from "./order-queue.ts";
import { SharedInstants } from "./shared-instants.ts";
import { startWorker, type ThreadHandle } from "./thread-handle.ts";

/** What the thread is started with, and by whom. */
export interface RenewalThreadOptions {
  readonly start: Omit<ThreadStart, "time" | "life">;
  readonly clock: Clock & Pick<HolderClock, "shared">;
  readonly random: Random;
  /** Renews on this thread what the other has not taken over. */
  readonly inline: Pick<Keeper, "keep">;
  /** Starts the thread; a worker when absent. */
  readonly startThread?: ((start: ThreadStart) => ThreadHandle) | undefined;
}

interface Entry {
  readonly id: number;
  readonly slot: number;
  readonly hold: KeptHold;
  readonly listener: KeepListener;
  /** The newest instant that the listener was told. */
  toldMs: number;
  /** Neither thread renews it any more once this is false; its deadline is watched until it is dropped. */
  isRenewing: boolean;
  /** Renews it on this thread, until the other is known to do so. */
  meanwhile: Keeping | undefined;
}

const restartBackoff = { firstMs: 50, limitMs: 1_000 };
/** Signs of life per σ: twice as many as the watch needs to see. */
const signsPerStopBound = 8;

/**
 * Renews from a thread of its own with its own connection, so that a main thread that is busy for a while does not lose
 * its terms. Proven instants are in shared memory, so the main thread knows them before it has read any message. Until
 * the thread has proven a renewal of its own, and again when it dies and is started anew, the main thread renews: a term
 * never waits for a thread. The thread is told of a term before anything can act on it, and watches its deadline until
 * the work is over, whoever renews.
 */
export class RenewalThread implements Keeper {
  readonly #options: RenewalThreadOptions;
  readonly #slots = new HoldSlots<Entry>((page) => this.#order({ kind: "page", page }));
  readonly #orders = new OrderQueue((orders) => this.#worker?.postMessage(orders));
  /** Memory shared with the thread: the sign of this one's life, and deadlines of terms that the thread is not told of. */
  readonly signs = new SharedInstants();
  readonly #lifePage: SharedArrayBuffer;
  readonly #entries = new Map<number, Entry>();
  readonly #book = new HoldBook<Entry>();
  readonly #backoff: Backoff;
  #lastId = 0;
  #worker: ThreadHandle | undefined;
  #hasStarted = false;
  /** The thread has had a connection: it renews what it is given, or tells why not. */
  #isUp = false;
  #isClosed = false;
  #sign: Timer | undefined;
  #restart: Timer | undefined;

  constructor(options: RenewalThreadOptions) {
    this.#options = options;
    this.#lifePage = this.signs.makePage();
    this.#backoff = new Backoff(restartBackoff, options.random);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether the thread has had a connection. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Starts the thread, if that was not done: it needs some time before its first renewal. */
  warmUp(): void {
    if (this.#hasStarted || this.#isClosed) return;
    this.#hasStarted = true;
    this.#showLife();
    this.#startThread();
  }

  keep(hold: KeptHold, listener: KeepListener, told: Told = "now"): Keeping {
    this.warmUp();
    const entry = this.#enter(hold, listener);
    this.#order({ kind: "keep", id: entry.id, slot: entry.slot, hold });
    // Not at the end of the turn: this thread may block in it, and then the other must know the deadline.
    if (told === "now") this.#orders.send();
    else this.#orders.sendSoon();
    if (!this.#isUp) this.#renewMeanwhile(entry);
    const provenAtMs = () => (this.#entries.has(entry.id) ? this.#slots.instants.get(entry.slot) : entry.toldMs);
    return {
      get provenAtMs() {
        return provenAtMs();
      },
      renewNow: () => this.#renewNow(entry),
      stopRenewing: () => this.#stopRenewing(entry),
      [Symbol.dispose]: () => this.#drop(entry),
    };
  }

  /** Tells the thread now what it is to be told soon. */
  sendOrders(): void {
    this.#orders.send();
  }

  onPush(push: SessionPush): void {
    this.#book.onPush(push);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sign?.cancel();
    this.#restart?.cancel();
    for (const { meanwhile } of this.#entries.values()) meanwhile?.[Symbol.dispose]();
    this.#entries.clear();
    const worker = this.#worker;
    if (worker === undefined) return;
    const { connectTimeoutMs, requestTimeoutMs } = this.#options.start;
    // One that still starts gets its time: a thread that is ended while it loads its modules leaves their files open.
    await this.#takeLeave(worker, this.#isUp ? requestTimeoutMs : connectTimeoutMs);
    await worker.terminate();
  }

  async #takeLeave(worker: ThreadHandle, withinMs: number): Promise<void> {
    const exited = new AbortController();
    const exit = new Promise<void>((resolve) => worker.on("exit", () => resolve()));
    worker.postMessage([{ kind: "close" }]);
    const bound = this.#options.clock.sleep(withinMs, exited.signal).catch(() => {});
    await Promise.race([exit, bound]);
    exited.abort();
  }

  #enter(hold: KeptHold, listener: KeepListener): Entry {
    this.#lastId += 1;
    const slot = this.#slots.take();
    const toldMs = hold.provenAtMs;
    const entry: Entry = { id: this.#lastId, slot, hold, listener, toldMs, isRenewing: true, meanwhile: undefined };
    this.#slots.instants.set(slot, hold.provenAtMs);
    this.#entries.set(entry.id, entry);
    this.#slots.enter(entry);
    this.#book.add(entry);
    return entry;
  }

  /** Renews on this thread until the other does. */
  #renewMeanwhile(entry: Entry): void {
    const { hold, listener, slot } = entry;
    const { inline } = this.#options;
    entry.meanwhile = inline.keep(
      { ...hold, provenAtMs: this.#slots.instants.get(slot) },
      {
        onRenewed: (sentAtMs) => {
          this.#slots.instants.raise(slot, sentAtMs);
          this.#tellRenewed(entry);
        },
        onMissed: (error) => listener.onMissed(error),
        onRefused: (error) => this.#onRefused(entry, error),
        onEndOfTerm: (mark) => listener.onEndOfTerm(mark),
        onEnded: (reason, note) => listener.onEnded(reason, note),
      },
    );
  }

  #leaveToThread(entry: Entry): void {
    entry.meanwhile?.[Symbol.dispose]();
    entry.meanwhile = undefined;
  }

  #startThread(): void {
    const { clock, start, startThread = startWorker } = this.#options;
    const worker = startThread({ ...start, time: clock.shared, life: this.#lifePage });
    this.#worker = worker;
    let cause: unknown;
    worker.on("message", (reports: readonly ThreadReport[]) => {
      for (const report of reports) {
        // It only watches any more, for as long as this thread could not hear of it.
        if (report.kind === "failed") {
          cause = errorFromPlain(report.error);
          void worker.terminate();
        } else this.#onReport(report);
      }
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => this.#onExit(worker, cause));
    const orders: ThreadOrder[] = this.#slots.pages.map((page) => ({ kind: "page", page }));
    for (const { hold, id, slot, isRenewing } of this.#entries.values()) {
      orders.push({ kind: "keep", id, slot, hold: { ...hold, provenAtMs: this.#slots.instants.get(slot) } });
      if (!isRenewing) orders.push({ kind: "stopRenewing", id });
    }
    worker.postMessage(orders);
  }

  #onExit(worker: ThreadHandle, cause: unknown): void {
    if (this.#worker !== worker || this.#isClosed) return;
    this.#worker = undefined;
    this.#isUp = false;
    this.#slots.freeAll();
    this.#orders.clear();
    const error = threadLost(cause);
    this.#restart = this.#options.clock.schedule(this.#backoff.next(), () => this.#startThread());
    for (const entry of [...this.#entries.values()]) {
      if (!entry.isRenewing) continue;
      entry.listener.onMissed(error);
      if (entry.isRenewing && entry.meanwhile === undefined) this.#renewMeanwhile(entry);
      entry.meanwhile?.renewNow();
    }
  }

  #onReport(report: Exclude<ThreadReport, { readonly kind: "failed" }>): void {
    switch (report.kind) {
      case "up":
        this.#isUp = true;
        break;
      case "renewed":
        this.#backoff.reset();
        for (const slot of report.slots) this.#onRenewed(this.#slots.at(slot));
        break;
      case "missed": {
        const error = errorFromPlain(report.error);
        for (const id of report.ids) this.#onMissed(id, error);
        break;
      }
      case "refused":
        this.#onRefused(this.#entries.get(report.id), errorFromPlain(report.error));
        break;
      case "endOfTerm":
        this.#entries.get(report.id)?.listener.onEndOfTerm(report.mark);
        break;
      case "ended":
        this.#entries.get(report.id)?.listener.onEnded(report.reason, report.note);
        break;
      case "dropped":
        this.#slots.free(report.id);
        break;
    }
  }

  #onRenewed(entry: Entry | undefined): void {
    if (entry === undefined) return;
    this.#leaveToThread(entry);
    this.#tellRenewed(entry);
  }

  /** A miss of the thread means nothing while this one renews: it tells its own. */
  #onMissed(id: number, error: TenureError): void {
    const entry = this.#entries.get(id);
    if (entry?.isRenewing && entry.meanwhile === undefined) entry.listener.onMissed(error);
  }

  /** The deadline stays: whatever the term is for may still run. */
  #onRefused(entry: Entry | undefined, error: TenureError): void {
    if (!entry?.isRenewing) return;
    this.#stopRenewing(entry);
    entry.listener.onRefused(error);
  }

  #tellRenewed(entry: Entry): void {
    const provenAtMs = this.#slots.instants.get(entry.slot);
    if (provenAtMs <= entry.toldMs) return;
    entry.toldMs = provenAtMs;
    entry.listener.onRenewed(provenAtMs);
  }

  #renewNow(entry: Entry): void {
    if (!entry.isRenewing || !this.#entries.has(entry.id)) return;
    this.#order({ kind: "renewNow", id: entry.id });
    entry.meanwhile?.renewNow();
  }

  #stopRenewing(entry: Entry): void {
    if (!entry.isRenewing || !this.#entries.has(entry.id)) return;
    entry.isRenewing = false;
    this.#leaveToThread(entry);
    this.#order({ kind: "stopRenewing", id: entry.id });
  }

  #drop(entry: Entry): void {
    if (!this.#entries.delete(entry.id)) return;
    entry.isRenewing = false;
    this.#leaveToThread(entry);
    entry.toldMs = Math.max(entry.toldMs, this.#slots.instants.get(entry.slot));
    this.#book.delete(entry);
    this.#slots.leave(entry);
    if (this.#worker === undefined) this.#slots.free(entry.id);
    else this.#order({ kind: "drop", id: entry.id });
  }

  #order(order: ThreadOrder): void {
    // While there is no thread nothing is gathered: the next one is told everything when it starts.
    if (this.#worker === undefined || this.#isClosed) return;
    this.#orders.add(order);
  }

  /** Writes the present instant where the thread looks for it, again and again: what a blocked main thread cannot do. */
  #showLife(): void {
    const { clock, start } = this.#options;
    this.signs.set(0, clock.now());
    this.#sign = clock.schedule(start.stopBoundMs / signsPerStopBound, () => this.#showLife());
  }
}

function threadLost(cause: unknown): TenureError {
  const why = cause instanceof Error ? cause.message : "it ended by itself";
  const message = `the renewing thread was lost and is started again: ${why}`;
  return new TenureError({ code: "UNAVAILABLE", reason: "RENEWAL_THREAD_LOST", message, cause });
}
