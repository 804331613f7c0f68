import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { SessionPush } from "@tenure/contracts";
import { Backoff, type Clock, type HolderClock, type Random, type Timer } from "@tenure/kernel";
import { TenureError } from "../../errors.ts";
import type { Keeping, KeepListener, KeptHold } from "../../session/session.ts";
import { atEndOfTurn } from "../../session/turn.ts";
import { HoldBook } from "../hold-book.ts";
import type { Keeper } from "../keeper.ts";
import { errorFromPlain, type ThreadOrder, type ThreadReport, type ThreadStart } from "./messages.ts";
import { SharedInstants } from "./shared-instants.ts";

/** The part of a worker that is used here. */
export interface ThreadHandle {
  postMessage(orders: readonly ThreadOrder[]): void;
  terminate(): Promise<unknown>;
  on(event: "message", listener: (reports: readonly ThreadReport[]) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: () => void): unknown;
}

/** What the thread is started with, and by whom. */
export interface RenewalThreadOptions {
  readonly start: Omit<ThreadStart, "time" | "life">;
  readonly clock: Clock & Pick<HolderClock, "shared">;
  readonly random: Random;
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
}

const restartBackoff = { firstMs: 50, limitMs: 1_000 };
/** Signs of life per σ: twice as many as the watch needs to see. */
const signsPerStopBound = 8;

/**
 * Renews from a thread of its own with its own connection, so that a main thread that is busy for a while does not lose
 * its terms. Proven instants are in shared memory, so the main thread knows them before it has read any message. A
 * thread that dies is started again and takes over what is kept.
 */
export class RenewalThread implements Keeper {
  readonly #options: RenewalThreadOptions;
  readonly #instants = new SharedInstants();
  readonly #life = new SharedInstants();
  readonly #lifePage: SharedArrayBuffer;
  readonly #pages: SharedArrayBuffer[] = [];
  readonly #entries = new Map<number, Entry>();
  /** Dropped, but the thread may still write into their slots. */
  readonly #leaving = new Map<number, number>();
  readonly #freeSlots: number[] = [];
  readonly #book = new HoldBook<Entry>();
  readonly #backoff: Backoff;
  #usedSlots = 0;
  #lastId = 0;
  #worker: ThreadHandle | undefined;
  #orders: ThreadOrder[] = [];
  #isOrderDue = false;
  #isClosed = false;
  #sign: Timer | undefined;
  #restart: Timer | undefined;

  constructor(options: RenewalThreadOptions) {
    this.#options = options;
    this.#lifePage = this.#life.makePage();
    this.#backoff = new Backoff(restartBackoff, options.random);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Starts the thread, if it does not run: it needs some time before its first renewal. */
  warmUp(): void {
    if (this.#worker !== undefined || this.#isClosed) return;
    this.#showLife();
    this.#startThread();
  }

  keep(hold: KeptHold, listener: KeepListener): Keeping {
    this.warmUp();
    this.#lastId += 1;
    const entry: Entry = { id: this.#lastId, slot: this.#takeSlot(), hold, listener, toldMs: hold.provenAtMs };
    this.#instants.set(entry.slot, hold.provenAtMs);
    this.#entries.set(entry.id, entry);
    this.#book.add(entry);
    this.#order({ kind: "keep", id: entry.id, slot: entry.slot, hold });
    const provenAtMs = () => (this.#entries.has(entry.id) ? this.#instants.get(entry.slot) : entry.toldMs);
    return {
      get provenAtMs() {
        return provenAtMs();
      },
      renewNow: () => this.#entries.has(entry.id) && this.#order({ kind: "renewNow", id: entry.id }),
      [Symbol.dispose]: () => this.#drop(entry),
    };
  }

  onPush(push: SessionPush): void {
    this.#book.onPush(push);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sign?.cancel();
    this.#restart?.cancel();
    this.#entries.clear();
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = new AbortController();
    const exit = new Promise<void>((resolve) => worker.on("exit", () => resolve()));
    worker.postMessage([{ kind: "close" }]);
    const { clock, start } = this.#options;
    const bound = clock.sleep(start.requestTimeoutMs, exited.signal).catch(() => {});
    await Promise.race([exit, bound]);
    exited.abort();
    await worker.terminate();
  }

  #startThread(): void {
    const { clock, start, startThread = startWorker } = this.#options;
    const worker = startThread({ ...start, time: clock.shared, life: this.#lifePage });
    this.#worker = worker;
    worker.on("message", (reports: readonly ThreadReport[]) => this.#onReports(reports));
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => this.#onExit(worker, cause));
    const orders: ThreadOrder[] = this.#pages.map((page) => ({ kind: "page", page }));
    for (const { hold, id, slot } of this.#entries.values()) {
      orders.push({ kind: "keep", id, slot, hold: { ...hold, provenAtMs: this.#instants.get(slot) } });
    }
    worker.postMessage(orders);
  }

  #onExit(worker: ThreadHandle, cause: unknown): void {
    if (this.#worker !== worker || this.#isClosed) return;
    this.#worker = undefined;
    // A thread that is gone writes nothing any more.
    for (const slot of this.#leaving.values()) this.#freeSlots.push(slot);
    this.#leaving.clear();
    this.#orders = [];
    const error = threadLost(cause);
    for (const { listener } of [...this.#entries.values()]) listener.onMissed(error);
    this.#restart = this.#options.clock.schedule(this.#backoff.next(), () => this.#startThread());
  }

  #onReports(reports: readonly ThreadReport[]): void {
    for (const report of reports) this.#onReport(report);
  }

  #onReport(report: ThreadReport): void {
    switch (report.kind) {
      case "renewed":
        this.#backoff.reset();
        for (const id of report.ids) this.#onRenewed(id);
        break;
      case "missed": {
        const error = errorFromPlain(report.error);
        for (const id of report.ids) this.#entries.get(id)?.listener.onMissed(error);
        break;
      }
      case "refused": {
        const entry = this.#entries.get(report.id);
        if (entry === undefined) break;
        this.#drop(entry);
        entry.listener.onRefused(errorFromPlain(report.error));
        break;
      }
      case "endOfTerm":
        this.#entries.get(report.id)?.listener.onEndOfTerm(report.mark);
        break;
      case "ended":
        this.#entries.get(report.id)?.listener.onEnded(report.reason, report.note);
        break;
      case "dropped":
        this.#free(report.id);
        break;
    }
  }

  #onRenewed(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const provenAtMs = this.#instants.get(entry.slot);
    if (provenAtMs <= entry.toldMs) return;
    entry.toldMs = provenAtMs;
    entry.listener.onRenewed(provenAtMs);
  }

  #drop(entry: Entry): void {
    if (!this.#entries.delete(entry.id)) return;
    entry.toldMs = Math.max(entry.toldMs, this.#instants.get(entry.slot));
    this.#book.delete(entry);
    this.#leaving.set(entry.id, entry.slot);
    if (this.#worker === undefined) this.#free(entry.id);
    else this.#order({ kind: "drop", id: entry.id });
  }

  #free(id: number): void {
    const slot = this.#leaving.get(id);
    if (slot !== undefined) this.#freeSlots.push(slot);
    this.#leaving.delete(id);
  }

  #takeSlot(): number {
    const free = this.#freeSlots.pop();
    if (free !== undefined) return free;
    if (this.#usedSlots === this.#instants.size) {
      const page = this.#instants.makePage();
      this.#pages.push(page);
      this.#order({ kind: "page", page });
    }
    this.#usedSlots += 1;
    return this.#usedSlots - 1;
  }

  #order(order: ThreadOrder): void {
    // While there is no thread nothing is gathered: the next one is told everything when it starts.
    if (this.#worker === undefined || this.#isClosed) return;
    this.#orders.push(order);
    if (this.#isOrderDue) return;
    this.#isOrderDue = true;
    atEndOfTurn(() => {
      this.#isOrderDue = false;
      const orders = this.#orders;
      this.#orders = [];
      if (orders.length > 0) this.#worker?.postMessage(orders);
    });
  }

  /** Writes the present instant where the thread looks for it, again and again: what a blocked main thread cannot do. */
  #showLife(): void {
    const { clock, start } = this.#options;
    this.#life.set(0, clock.now());
    this.#sign = clock.schedule(start.stopBoundMs / signsPerStopBound, () => this.#showLife());
  }
}

/** The thread's module, beside this one: a bundler must be told to keep it there. */
const workerUrl = new URL("./renewal-worker.js", import.meta.url);

/** Whether the thread's module is where it should be. Without it terms could be taken and not renewed. */
export function hasThreadModule(): boolean {
  return existsSync(workerUrl);
}

function startWorker(workerData: ThreadStart): ThreadHandle {
  return new Worker(workerUrl, { workerData, name: "tenure-renewal" });
}

function threadLost(cause: unknown): TenureError {
  const why = cause instanceof Error ? cause.message : "it ended by itself";
  const message = `the renewing thread was lost and is started again: ${why}`;
  return new TenureError({ code: "UNAVAILABLE", reason: "RENEWAL_THREAD_LOST", message, cause });
}
