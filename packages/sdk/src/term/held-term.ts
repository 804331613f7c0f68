import { setMaxListeners } from "node:events";
import { toTenureError } from "../errors.ts";
import type { Guard } from "../guard/guard.ts";
import { TermGuard } from "../guard/term-guard.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { lossExitCode } from "../instance/end-process.ts";
import type { RunningTerm } from "../instance/running-terms.ts";
import type { LeaseMetrics } from "../metrics/client-metrics.ts";
import type { TraceSpan } from "../metrics/tracer.ts";
import type { Granted, Keeping } from "../session/session.ts";
import { holdOf, modeOf } from "./granted-hold.ts";
import { KeptTerm } from "./kept-term.ts";
import { type LeaseName, showLease } from "./lease-name.ts";
import { eventOfRefusal, isTermRefusal } from "./refusal.ts";
import { releaseTerm } from "./release-term.ts";
import type { HoldingMode, TermEvents, TermSignal } from "./term.ts";
import { describeEnd, isOnRequest, returned, type TermEnd } from "./term-end.ts";
import { TermEnded } from "./term-ended.ts";
import type { TermParts } from "./term-parts.ts";
import {
  beginTerm,
  deadlineOf,
  mayAct,
  nextInstant,
  step,
  type TermEffect,
  type TermEvent,
  type TermStanding,
  type TermState,
} from "./term-state.ts";
import { TypedListeners } from "./typed-listeners.ts";

/**
 * The shell around a term's rules: feeds {@link step} with what the session and the clock say, and does what it asks
 * for. What not every term needs is made when it is asked for: most are locks that are released at once.
 */
export class HeldTerm implements RunningTerm {
  readonly lease: LeaseName;
  readonly token: bigint;
  readonly holder: string;
  readonly mode: HoldingMode;
  readonly units: number;
  dueMs = Number.POSITIVE_INFINITY;
  place = -1;
  readonly #context: ClientContext;
  readonly #parts: TermParts;
  readonly #metrics: LeaseMetrics;
  readonly #span: TraceSpan | undefined;
  readonly #keeping: Keeping;
  #state: TermState;
  #guard: Guard | undefined;
  #controller: AbortController | undefined;
  #listeners: TypedListeners<TermEvents> | undefined;
  #released: Promise<void> | undefined;
  #hasBegunToFinish = false;
  #finishing: Promise<void> | undefined;
  #finished: Promise<void> | undefined;
  #onFinished: (() => void) | undefined;
  #isFinished = false;

  /** Begins to renew at once. The caller has made sure that enough of the term is left: see `isWorthHolding`. */
  constructor(context: ClientContext, { grant, sentAtMs }: Granted, parts: TermParts) {
    const { hold, lease } = holdOf(grant);
    this.lease = lease;
    this.token = hold.token;
    this.holder = hold.holder;
    this.mode = modeOf(hold);
    this.units = Math.max(1, hold.units);
    this.#context = context;
    this.#parts = parts;
    const { usableTermMs, drainMs, stopTimeoutMs, renewIntervalMs, requestTimeoutMs } = parts.timing;
    const graceMs = context.policy.stopBoundMs / 2;
    this.#state = beginTerm({ usableTermMs, drainMs, stopTimeoutMs, graceMs }, sentAtMs);
    this.#metrics = context.metrics.of(parts.metricsName);
    this.#metrics.terms += 1;
    this.#metrics.leading += 1;
    this.#span = context.tracer?.start("tenure.term", {
      "tenure.lease": showLease(lease),
      "tenure.token": String(this.token),
    });
    const { holdId, partition, token } = hold;
    this.#keeping = context.session.keep(
      {
        lease,
        holdId,
        partition,
        token,
        renewIntervalMs,
        requestTimeoutMs,
        provenAtMs: sentAtMs,
        usableTermMs,
        drainMs,
      },
      new KeptTerm(this.#metrics, (event) => this.#take(event)),
      // Who claimed it goes on a promise later.
      parts.told,
    );
    // Whoever listens may block this thread: the one that renews is told of the term before.
    if (context.emit !== undefined) queueMicrotask(() => context.emit?.({ kind: "term-began", lease, token }));
    this.#arm();
    context.terms.add(this);
  }

  get guard(): Guard {
    this.#guard ??= new TermGuard(this.#context, this);
    return this.#guard;
  }

  get finished(): Promise<void> {
    this.#finished ??= new Promise((resolve) => {
      if (this.#isFinished) resolve();
      else this.#onFinished = resolve;
    });
    return this.#finished;
  }

  onDue(): void {
    this.#tick();
  }

  get remainingMs(): number {
    const nowMs = this.#tick();
    return mayAct(this.#state, nowMs) ? deadlineOf(this.#state) - nowMs : 0;
  }

  get standing(): TermStanding {
    this.#tick();
    return this.#state.hasReturned ? "lost" : this.#state.standing;
  }

  /** Made when it is first asked for: most locks are released without, and it is a good part of what they cost. */
  get signal(): TermSignal {
    this.#controller ??= this.#makeController();
    return this.#controller.signal;
  }

  get provenAgeMs(): number {
    const nowMs = this.#tick();
    return nowMs - this.#state.provenAtMs;
  }

  get leaseDurationMs(): number {
    return this.#parts.timing.leaseDurationMs;
  }

  /** Why the term ends or ended; undefined while nobody has asked it to. */
  get end(): TermEnd | undefined {
    return this.#state.lost?.end ?? this.#state.signalled?.end;
  }

  check(): void {
    this.checkedMs();
  }

  checkedMs(): number {
    const nowMs = this.#tick();
    if (mayAct(this.#state, nowMs)) return deadlineOf(this.#state) - nowMs;
    throw new TermEnded(this.lease, this.token, this.end ?? returned);
  }

  stepDown(reason = ""): void {
    this.#take({ kind: "asked", end: { kind: "released", by: "step-down", note: reason } });
  }

  stop(cause: unknown): void {
    this.#take({ kind: "asked", end: { kind: "stopped", cause } });
  }

  noteRefusal(error: Error): void {
    const refusal = toTenureError(error);
    if (isTermRefusal(refusal)) this.#take(eventOfRefusal(refusal));
  }

  on<Name extends keyof TermEvents>(name: Name, listener: (event: TermEvents[Name]) => void): () => void {
    this.#listeners ??= new TypedListeners();
    return this.#listeners.add(name, listener);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** Says that the work is done: the release is sent now, if there is still something to release. */
  release(): Promise<void> {
    if (!this.#hasBegunToFinish) {
      // Before it begins: it tells listeners, and who hears of the end may release.
      this.#hasBegunToFinish = true;
      this.#finishing = this.#finish();
    }
    return this.#finishing ?? this.finished;
  }

  async #finish(): Promise<void> {
    this.#take({ kind: "returned" });
    this.#keeping[Symbol.dispose]();
    if (this.#state.lost === undefined) this.#metrics.leading -= 1;
    const end = this.end ?? returned;
    this.#metrics.ended[end.kind] += 1;
    if (this.#released !== undefined) await this.#released;
    this.#span?.end(isOnRequest(end) ? undefined : new TermEnded(this.lease, this.token, end));
    this.#context.terms.remove(this);
    this.#isFinished = true;
    this.#onFinished?.();
  }

  #makeController(): AbortController {
    const controller = new AbortController();
    // As much as the application likes may hang on its term.
    setMaxListeners(0, controller.signal);
    const { signalled } = this.#state;
    if (signalled !== undefined) controller.abort(new TermEnded(this.lease, this.token, signalled.end));
    return controller;
  }

  /** Judges the present instant, which it gives. Before the next instant that matters there is nothing to judge. */
  #tick(): number {
    const { clock } = this.#context.session;
    const nowMs = clock.now();
    if (nowMs < this.dueMs && this.#keeping.provenAtMs <= this.#state.provenAtMs) return nowMs;
    this.#take(tick, nowMs);
    // Whoever listens may have taken their time.
    return clock.now();
  }

  /** Takes the proof that the renewing thread may have written while this one was busy, then the event. */
  #take(event: TermEvent, nowMs = this.#context.session.clock.now()): void {
    if (this.#state.hasReturned) return;
    const sentAtMs = this.#keeping.provenAtMs;
    if (sentAtMs > this.#state.provenAtMs) this.#step({ kind: "renewed", sentAtMs }, nowMs);
    this.#step(event, nowMs);
    this.#arm();
  }

  #step(event: TermEvent, nowMs: number): void {
    const { state, effects } = step(this.#state, event, nowMs);
    this.#state = state;
    for (const effect of effects) this.#do(effect);
  }

  #arm(): void {
    const dueMs = nextInstant(this.#state);
    const isEarlier = dueMs < this.dueMs;
    this.dueMs = dueMs;
    if (isEarlier && this.place >= 0) this.#context.terms.add(this);
  }

  #do(effect: TermEffect): void {
    const { lease, token } = this;
    switch (effect.kind) {
      case "held":
        this.#span?.event("held");
        this.#context.emit?.({ kind: "term-held", lease, token });
        this.#listeners?.emit("held", { remainingMs: this.#leftMs() });
        return;
      case "at-risk":
        this.#span?.event("at-risk", { "tenure.reason": effect.error.reason });
        this.#context.emit?.({ kind: "term-at-risk", lease, token, error: effect.error });
        this.#listeners?.emit("at-risk", { remainingMs: this.#leftMs(), error: effect.error });
        return;
      case "signal":
        this.#span?.event("signal", { "tenure.end": effect.end.kind });
        this.#context.emit?.({ kind: "term-ending", lease, token, end: effect.end });
        this.#controller?.abort(new TermEnded(lease, token, effect.end));
        return;
      case "lost":
        this.#metrics.leading -= 1;
        this.#span?.event("lost", { "tenure.end": effect.end.kind });
        this.#context.emit?.({ kind: "term-lost", lease, token, end: effect.end });
        this.#listeners?.emit("lost", { end: effect.end });
        return;
      case "stop-renewing":
        this.#keeping.stopRenewing();
        return;
      case "release":
        this.#released = releaseTerm(this.#context, this, effect.end, this.#parts.timing);
        return;
      case "overrun":
        this.#overrun(effect.end);
        return;
    }
  }

  #leftMs(): number {
    return Math.max(0, deadlineOf(this.#state) - this.#context.session.clock.now());
  }

  #overrun(end: TermEnd): void {
    this.#metrics.overruns += 1;
    if (this.#parts.onOverrun === "signal-only") {
      this.#keeping[Symbol.dispose]();
      return;
    }
    const why = `${describeEnd(end)}, and what it was for still runs`;
    this.#context.endProcess(lossExitCode, `lease ${showLease(this.lease)} (token ${this.token}) is lost: ${why}`);
  }
}

const tick: TermEvent = { kind: "tick" };
