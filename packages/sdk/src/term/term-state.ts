import type { TenureError } from "../errors.ts";
import { returned, type TermEnd } from "./term-end.ts";

/** The durations that one term lives by, in ms. */
export interface TermRules {
  /** H: how long the holder may act, from the send instant of its newest proven attempt. */
  readonly usableTermMs: number;
  /** How long before the deadline the signal fires when nothing extends the term: the drain is inside the term. */
  readonly drainMs: number;
  /** How long after the signal the term goes on being renewed while its function finishes. */
  readonly stopTimeoutMs: number;
  /** What a function gets, after a signal that came too late for a drain, before it counts as overrun; below σ. */
  readonly graceMs: number;
}

/** Whether the holder may act: surely, with failing renewals, or no more. Lost is final. */
export type TermStanding = "held" | "at-risk" | "lost";

/** That the function was told to finish. */
export interface Signalled {
  readonly end: TermEnd;
  readonly atMs: number;
}

/** That the holder may act no more. */
export interface Lost {
  readonly end: TermEnd;
  /** A function that still runs at this instant has overrun its term. */
  readonly overrunAtMs: number;
}

/** All that a holder knows of its term. Instants are on the holder's clock, in ms. */
export interface TermState {
  readonly rules: TermRules;
  /** Send instant of the newest attempt that is known to be committed. */
  readonly provenAtMs: number;
  readonly standing: TermStanding;
  /** The newest failure of a renewal since the last proven one. */
  readonly miss: TenureError | undefined;
  /** Set once, when the function is told to finish. */
  readonly signalled: Signalled | undefined;
  /** Set once, when the holder may act no more. */
  readonly lost: Lost | undefined;
  readonly isRenewing: boolean;
  readonly hasReturned: boolean;
  /** The function was found running when it had to be gone. */
  readonly hasOverrun: boolean;
}

/** What happens to a term. */
export type TermEvent =
  /** Time has passed. */
  | { readonly kind: "tick" }
  /** A renewal that was sent at this instant is committed. */
  | { readonly kind: "renewed"; readonly sentAtMs: number }
  /** A renewal failed or was not answered in time. */
  | { readonly kind: "missed"; readonly error: TenureError }
  /** Renewals are refused for good, and nobody else can hold the lease before the term has run out. */
  | { readonly kind: "refused"; readonly end: TermEnd }
  /** The term is over in the store: another may hold the lease already. */
  | { readonly kind: "ended"; readonly end: TermEnd }
  /** Somebody asks the function to finish: the caller, the holder itself, or an end of term. */
  | { readonly kind: "asked"; readonly end: TermEnd }
  /** The function has returned, or its block was left. */
  | { readonly kind: "returned" };

/** What the shell has to do, in order. */
export type TermEffect =
  | { readonly kind: "signal"; readonly end: TermEnd }
  | { readonly kind: "held" }
  | { readonly kind: "at-risk"; readonly error: TenureError }
  | { readonly kind: "lost"; readonly end: TermEnd }
  | { readonly kind: "stop-renewing" }
  /** Give the lease back: sent only after the function has returned. */
  | { readonly kind: "release"; readonly end: TermEnd }
  | { readonly kind: "overrun"; readonly end: TermEnd };

/** A term that has just been granted: its proof is the send or beat that the grant names (rules 11 and 12). */
export function beginTerm(rules: TermRules, provenAtMs: number): TermState {
  return {
    rules,
    provenAtMs,
    standing: "held",
    miss: undefined,
    signalled: undefined,
    lost: undefined,
    isRenewing: true,
    hasReturned: false,
    hasOverrun: false,
  };
}

/** The instant from which the holder may not act: the proven send instant + H, never later (I5). */
export function deadlineOf(state: TermState): number {
  return state.provenAtMs + state.rules.usableTermMs;
}

/** Whether the holder may act at this instant. Compares clocks; no timer has to have fired. */
export function mayAct(state: TermState, nowMs: number): boolean {
  return state.lost === undefined && !state.hasReturned && nowMs < deadlineOf(state);
}

/** When time alone changes the state next; `Infinity` when it never will. */
export function nextInstant(state: TermState): number {
  if (state.hasReturned) return Number.POSITIVE_INFINITY;
  if (state.lost !== undefined) return state.hasOverrun ? Number.POSITIVE_INFINITY : state.lost.overrunAtMs;
  const deadlineMs = deadlineOf(state);
  if (state.signalled === undefined) return deadlineMs - state.rules.drainMs;
  return state.isRenewing ? Math.min(deadlineMs, stopRenewingAt(state, state.signalled)) : deadlineMs;
}

/**
 * The state after an event and what is to be done about it. Time is judged first, except before a proof: what a thread
 * that was busy learns late was true all along, as long as nobody was told of a loss.
 */
export function step(
  state: TermState,
  event: TermEvent,
  nowMs: number,
): { readonly state: TermState; readonly effects: readonly TermEffect[] } {
  const effects: TermEffect[] = [];
  const timely = event.kind === "renewed" ? state : letTimePass(state, nowMs, effects);
  const next = timely.hasReturned ? timely : takeEvent(timely, event, nowMs, effects);
  return { state: letTimePass(next, nowMs, effects), effects };
}

function letTimePass(state: TermState, nowMs: number, effects: TermEffect[]): TermState {
  if (state.hasReturned) return state;
  let next = state;
  const deadlineMs = deadlineOf(next);
  if (next.lost === undefined && nowMs >= deadlineMs) next = lose(next, runOut(next), deadlineMs, nowMs, effects);
  if (next.signalled === undefined && nowMs >= deadlineMs - next.rules.drainMs) {
    next = signal(next, runOut(next), nowMs, effects);
  }
  if (next.isRenewing && next.signalled !== undefined && nowMs >= stopRenewingAt(next, next.signalled)) {
    next = stopRenewing(next, effects);
  }
  if (next.lost !== undefined && !next.hasOverrun && nowMs >= next.lost.overrunAtMs) {
    effects.push({ kind: "overrun", end: next.lost.end });
    next = { ...next, hasOverrun: true };
  }
  return next;
}

function takeEvent(state: TermState, event: TermEvent, nowMs: number, effects: TermEffect[]): TermState {
  if (event.kind === "returned") return takeReturn(state, nowMs, effects);
  if (state.lost !== undefined) return state;
  switch (event.kind) {
    case "tick":
      return state;
    case "renewed":
      return takeRenewal(state, Math.min(event.sentAtMs, nowMs), effects);
    case "missed":
      if (state.standing === "held") effects.push({ kind: "at-risk", error: event.error });
      return { ...state, standing: "at-risk", miss: event.error };
    case "refused":
      return stopRenewing(signal(state, event.end, nowMs, effects), effects);
    case "ended":
      return lose(state, event.end, nowMs + state.rules.graceMs, nowMs, effects);
    case "asked":
      return signal(state, event.end, nowMs, effects);
  }
}

/** A late or repeated acknowledgement proves no less than before and never moves the deadline back. */
function takeRenewal(state: TermState, sentAtMs: number, effects: TermEffect[]): TermState {
  if (sentAtMs <= state.provenAtMs) return state;
  if (state.standing === "at-risk") effects.push({ kind: "held" });
  return { ...state, provenAtMs: sentAtMs, standing: "held", miss: undefined };
}

/** Release only what is surely still held: after the deadline the term is left to expire (rule 14). */
function takeReturn(state: TermState, nowMs: number, effects: TermEffect[]): TermState {
  const told = stopRenewing(signal(state, returned, nowMs, effects), effects);
  if (told.lost === undefined) effects.push({ kind: "release", end: told.signalled?.end ?? returned });
  return { ...told, hasReturned: true };
}

function signal(state: TermState, end: TermEnd, nowMs: number, effects: TermEffect[]): TermState {
  if (state.signalled !== undefined) return state;
  effects.push({ kind: "signal", end });
  return { ...state, signalled: { end, atMs: nowMs } };
}

/** A function whose signal comes with the loss could not have heard it: it gets its grace before it has overrun. */
function lose(state: TermState, end: TermEnd, dueMs: number, nowMs: number, effects: TermEffect[]): TermState {
  const told = stopRenewing(signal(state, end, nowMs, effects), effects);
  effects.push({ kind: "lost", end });
  const heardAtMs = (told.signalled?.atMs ?? nowMs) + state.rules.graceMs;
  return { ...told, standing: "lost", lost: { end, overrunAtMs: Math.max(dueMs, heardAtMs) } };
}

function stopRenewing(state: TermState, effects: TermEffect[]): TermState {
  if (!state.isRenewing) return state;
  effects.push({ kind: "stop-renewing" });
  return { ...state, isRenewing: false };
}

function stopRenewingAt(state: TermState, signalled: Signalled): number {
  return signalled.atMs + state.rules.stopTimeoutMs;
}

function runOut({ miss, signalled }: TermState): TermEnd {
  if (signalled?.end.kind === "unreachable") return signalled.end;
  if (miss !== undefined) return { kind: "unreachable", cause: miss };
  return {
    kind: "expired",
    note: "no renewal was proven in time, and none had failed: the process may have been paused, suspended or too busy",
  };
}
