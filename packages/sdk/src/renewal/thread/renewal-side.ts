import { atEndOfTurn, type Clock, type Random, type Timer } from "@tenure/kernel";
import { TenureError } from "../../errors.ts";
import { Exchange } from "../../session/exchange.ts";
import type { Keeping } from "../../session/session.ts";
import type { Transport } from "../../transport/transport.ts";
import { plainError, type ThreadOrder, type ThreadReport, type ThreadStart } from "./messages.ts";
import { SharedInstants } from "./shared-instants.ts";
import { StallWatch, stallRules } from "./stall-watch.ts";

/** What the thread does its work with. */
export interface RenewalSideOptions {
  readonly start: ThreadStart;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  report(reports: readonly ThreadReport[]): void;
  /** Ends the process; the text says why. */
  endProcess(why: string): void;
}

interface SideEntry {
  readonly id: number;
  readonly slot: number;
  readonly lease: string;
  readonly usableTermMs: number;
  readonly keeping: Keeping;
}

/**
 * The renewing thread's work: renews on its own connection what the main thread hands over, as long as that one shows
 * life, and ends the process when it has stalled past a term's deadline. Reports of one turn travel in one message.
 */
export class RenewalSide {
  readonly #options: RenewalSideOptions;
  readonly #exchange: Exchange;
  readonly #instants = new SharedInstants();
  readonly #life = new SharedInstants();
  readonly #watch: StallWatch;
  readonly #entries = new Map<number, SideEntry>();
  readonly #stepMs: number;
  #renewed: number[] = [];
  #missed = new Map<TenureError, number[]>();
  #reports: ThreadReport[] = [];
  #isReportDue = false;
  #isClosed = false;
  #couldRenew = true;
  #nextLook: Timer | undefined;

  constructor(options: RenewalSideOptions) {
    this.#options = options;
    const { clock, random, start, transport } = options;
    this.#life.addPage(start.life);
    const rules = stallRules(start.stopBoundMs, start.mainSilenceMs);
    this.#stepMs = rules.stepMs;
    this.#watch = new StallWatch(rules, clock.now());
    this.#exchange = new Exchange({ ...start, transport, clock, random, renewalObstacle: () => this.#obstacle() });
    this.#exchange.onState((state) => state === "connected" && this.#report({ kind: "up" }));
    this.#exchange.onPush((push) => this.#exchange.keeper.onPush(push));
  }

  start(): void {
    this.#exchange.start();
    this.#look();
  }

  take(orders: readonly ThreadOrder[]): void {
    for (const order of orders) this.#takeOne(order);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#nextLook?.cancel();
    this.#exchange.keeper[Symbol.asyncDispose]();
    const message = "the renewing thread was closed";
    this.#exchange.close(new TenureError({ code: "CANCELLED", reason: "SESSION_CLOSED", message }));
  }

  /** Renews no more and says so. The watch goes on: a main thread that is stalled cannot start another thread. */
  fail(why: TenureError): void {
    this.#exchange.keeper[Symbol.asyncDispose]();
    this.#report({ kind: "failed", error: plainError(why) });
  }

  #takeOne(order: ThreadOrder): void {
    switch (order.kind) {
      case "page":
        this.#instants.addPage(order.page);
        break;
      case "keep":
        this.#keep(order);
        break;
      case "renewNow":
        this.#entries.get(order.id)?.keeping.renewNow();
        break;
      case "stopRenewing":
        this.#entries.get(order.id)?.keeping[Symbol.dispose]();
        break;
      case "drop":
        this.#drop(order.id);
        break;
      case "close":
        this.close();
        break;
    }
  }

  #keep({ hold, id, slot }: ThreadOrder & { readonly kind: "keep" }): void {
    const keeping = this.#exchange.keeper.keep(hold, {
      onRenewed: (sentAtMs) => {
        this.#instants.raise(slot, sentAtMs);
        this.#renewed.push(slot);
        this.#reportSoon();
      },
      onMissed: (error) => {
        const ids = this.#missed.get(error);
        if (ids === undefined) this.#missed.set(error, [id]);
        else ids.push(id);
        this.#reportSoon();
      },
      onRefused: (error) => this.#report({ kind: "refused", id, error: plainError(error) }),
      onEndOfTerm: (mark) => this.#report({ kind: "endOfTerm", id, mark }),
      onEnded: (reason, note) => this.#report({ kind: "ended", id, reason, note }),
    });
    const lease = `${hold.lease.namespace}/${hold.lease.name}`;
    this.#entries.set(id, { id, slot, lease, usableTermMs: hold.usableTermMs, keeping });
  }

  #drop(id: number): void {
    this.#entries.get(id)?.keeping[Symbol.dispose]();
    this.#entries.delete(id);
    this.#report({ kind: "dropped", id });
  }

  #look(): void {
    const { clock } = this.#options;
    this.#nextLook = clock.schedule(this.#stepMs, () => this.#look());
    const nowMs = clock.now();
    this.#watch.look(nowMs, this.#life.get(0));
    if (this.#watch.mayRenew && !this.#couldRenew) this.#exchange.keeper.renewAll();
    this.#couldRenew = this.#watch.mayRenew;
    if (this.#watch.isStalledPast(Number.NEGATIVE_INFINITY, nowMs)) this.#endIfPastTerm(nowMs);
  }

  #endIfPastTerm(nowMs: number): void {
    const { endProcess, start } = this.#options;
    if (start.onStall !== "exit") return;
    for (const [lease, deadlineMs] of this.#deadlines()) {
      if (!this.#watch.isStalledPast(deadlineMs, nowMs)) continue;
      const silent = `the main thread has shown no life for ${Math.round(this.#watch.silentMs)} ms`;
      const late = `${Math.round(nowMs - deadlineMs)} ms ago`;
      endProcess(`${silent} and the term of ${lease} ended ${late}: the process is ended, so that it cannot act on it`);
      return;
    }
  }

  *#deadlines(): Generator<readonly [lease: string, deadlineMs: number]> {
    for (const { lease, slot, usableTermMs } of this.#entries.values()) {
      yield [lease, this.#instants.get(slot) + usableTermMs];
    }
    for (let slot = 1; slot < this.#life.size; slot += 1) {
      const deadlineMs = this.#life.get(slot);
      if (deadlineMs > 0) yield ["a lock just taken", deadlineMs];
    }
  }

  #obstacle(): TenureError | undefined {
    if (this.#watch.mayRenew) return undefined;
    const message = `the main thread has shown no life for ${Math.round(this.#watch.silentMs)} ms: its terms are not renewed`;
    return new TenureError({ code: "UNAVAILABLE", reason: "MAIN_THREAD_SILENT", message });
  }

  #report(report: ThreadReport): void {
    this.#reports.push(report);
    this.#reportSoon();
  }

  #reportSoon(): void {
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    atEndOfTurn(() => {
      this.#isReportDue = false;
      const reports = this.#reports;
      this.#reports = [];
      if (this.#renewed.length > 0) reports.push({ kind: "renewed", slots: Uint32Array.from(this.#renewed) });
      for (const [error, ids] of this.#missed) {
        reports.push({ kind: "missed", ids: Float64Array.from(ids), error: plainError(error) });
      }
      this.#renewed = [];
      this.#missed = new Map();
      this.#options.report(reports);
    });
  }
}
