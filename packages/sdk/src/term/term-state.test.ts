import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal, unavailable } from "../testing/scripted-session.ts";
import type { TermEnd } from "./term-end.ts";
import {
  beginTerm,
  deadlineOf,
  mayAct,
  nextInstant,
  step,
  type TermEffect,
  type TermEvent,
  type TermRules,
  type TermState,
} from "./term-state.ts";

const rules: TermRules = { usableTermMs: 100, drainMs: 20, stopTimeoutMs: 50, graceMs: 5 };
const stopped: TermEnd = { kind: "stopped" };
const fenced: TermEnd = { kind: "preempted", how: "fenced", note: "" };
const revoked: TermEnd = { kind: "preempted", how: "revoked", note: "" };
const away = unavailable();

/** Plays events at instants; gives the last state and every effect with its instant. */
function play(events: readonly (readonly [atMs: number, event: TermEvent])[], first = beginTerm(rules, 0)) {
  let state = first;
  const effects: { readonly atMs: number; readonly kind: TermEffect["kind"]; readonly effect: TermEffect }[] = [];
  for (const [atMs, event] of events) {
    const answer = step(state, event, atMs);
    state = answer.state;
    effects.push(...answer.effects.map((effect) => ({ atMs, kind: effect.kind, effect })));
  }
  return { state, effects, told: effects.map(({ atMs, kind }) => `${atMs} ${kind}`) };
}

const tick = { kind: "tick" } as const;
const renewed = (sentAtMs: number) => ({ kind: "renewed", sentAtMs }) as const;
const missed = { kind: "missed", error: away } as const;

describe("the rules of a term", () => {
  it("count the deadline from the send of a proven attempt, never from its answer", () => {
    const { state } = play([[60, renewed(40)]]);
    expect(deadlineOf(state)).toBe(140);
    expect(mayAct(state, 139)).toBe(true);
    expect(mayAct(state, 140)).toBe(false);
  });

  it("never move the deadline back for a late answer", () => {
    expect(
      deadlineOf(
        play([
          [60, renewed(40)],
          [61, renewed(20)],
        ]).state,
      ),
    ).toBe(140);
  });

  it("do not believe in a send that lies in the future", () => {
    expect(deadlineOf(play([[60, renewed(90)]]).state)).toBe(160);
  });

  it("are at risk from the first miss until the next proof", () => {
    const { told, state } = play([
      [30, missed],
      [50, missed],
      [60, renewed(55)],
    ]);
    expect(told).toEqual(["30 at-risk", "60 held"]);
    expect(state.standing).toBe("held");
  });

  it("fire the signal a drain before the deadline, lose the term at it, and find a function that still runs", () => {
    const { told, effects } = play([
      [30, missed],
      [79, tick],
      [80, tick],
      [99, tick],
      [100, tick],
    ]);
    expect(told).toEqual(["30 at-risk", "80 signal", "100 stop-renewing", "100 lost", "100 overrun"]);
    expect(effects[1]?.effect).toEqual({ kind: "signal", end: { kind: "unreachable", cause: away } });
  });

  it("say expired, not unreachable, when no renewal had failed", () => {
    const { effects } = play([[100, tick]]);
    expect(effects[0]).toMatchObject({ kind: "signal", effect: { end: { kind: "expired" } } });
  });

  it("give a function whose signal came with the loss its grace, and then call it overrun", () => {
    expect(
      play([
        [300, tick],
        [304, tick],
        [305, tick],
      ]).told,
    ).toEqual(["300 signal", "300 stop-renewing", "300 lost", "305 overrun"]);
  });

  it("do not revive a term that anybody was told is lost", () => {
    const { state, told } = play([
      [100, tick],
      [101, renewed(90)],
    ]);
    expect(told).toContain("100 lost");
    expect(mayAct(state, 101)).toBe(false);
  });

  it("take a proof that a busy thread learns of late, if nobody was told of a loss", () => {
    const { state, told } = play([[120, renewed(90)]]);
    expect(told).toEqual([]);
    expect(mayAct(state, 189)).toBe(true);
  });

  it("go on renewing while the function finishes, and stop when its time is over", () => {
    const { told } = play([
      [10, { kind: "asked", end: stopped }],
      [40, renewed(39)],
      [59, tick],
      [60, tick],
      [139, tick],
    ]);
    expect(told).toEqual(["10 signal", "60 stop-renewing", "139 lost", "139 overrun"]);
  });

  it("release only after the function has returned, once, and while the term is surely held", () => {
    const { told } = play([
      [10, { kind: "asked", end: stopped }],
      [30, { kind: "returned" }],
      [31, { kind: "returned" }],
    ]);
    expect(told).toEqual(["10 signal", "30 stop-renewing", "30 release"]);
  });

  it("leave a term whose function returned after the deadline to expire", () => {
    expect(play([[100, { kind: "returned" }]]).told).toEqual(["100 signal", "100 stop-renewing", "100 lost"]);
  });

  it("tell a function that returned by itself to stop whatever it left running, before the release", () => {
    expect(play([[10, { kind: "returned" }]]).told).toEqual(["10 signal", "10 stop-renewing", "10 release"]);
  });

  it("leave a revoked holder its time, because nobody else can hold before it has run out", () => {
    const { told, state } = play([[10, { kind: "refused", end: revoked }]]);
    expect(told).toEqual(["10 signal", "10 stop-renewing"]);
    expect(mayAct(state, 99)).toBe(true);
  });

  it("end a fenced holder at once, with its grace", () => {
    const { told, state } = play([
      [10, { kind: "ended", end: fenced }],
      [14, tick],
      [15, tick],
    ]);
    expect(told).toEqual(["10 signal", "10 stop-renewing", "10 lost", "15 overrun"]);
    expect(mayAct(state, 10)).toBe(false);
  });

  it("keep the first reason of the signal, and the last one of the loss", () => {
    const { state } = play([
      [10, { kind: "asked", end: stopped }],
      [20, { kind: "ended", end: fenced }],
    ]);
    expect(state.signalled?.end).toEqual(stopped);
    expect(state.lost?.end).toEqual(fenced);
  });

  it("are over for a term that was proven never or too long ago", () => {
    expect(mayAct(beginTerm(rules, Number.NEGATIVE_INFINITY), 0)).toBe(false);
  });
});

/** Cheaper than an expectation: it is called millions of times. */
function demand(holds: boolean, rule: string): void {
  if (!holds) throw new Error(`broken: ${rule}`);
}

/** What must hold after every step, whatever happened. */
function judge(before: TermState, event: TermEvent, nowMs: number, provenMs: number): TermState {
  const { state, effects } = step(before, event, nowMs);
  const kinds = effects.map(({ kind }) => kind);
  const has = (kind: TermEffect["kind"]): boolean => kinds.includes(kind);
  const isOver = state.lost !== undefined || state.hasReturned;
  demand(deadlineOf(state) <= provenMs + rules.usableTermMs, "I5: the deadline is that of a proven send");
  demand(new Set(kinds).size === kinds.length, "no effect twice in a step");
  if (has("release")) {
    demand(event.kind === "returned" && !before.hasReturned, "I11: released only by the return, and once");
    demand(nowMs < deadlineOf(before) && state.lost === undefined, "rule 14: never released at or after the deadline");
  }
  demand(nextInstant(state) > nowMs, "time alone has nothing left to do at this instant");
  demand(!(before.signalled !== undefined && has("signal")), "one signal");
  demand(
    !(
      before.lost !== undefined && ["lost", "held", "at-risk", "release"].some((kind) => kinds.includes(kind as "lost"))
    ),
    "a loss is final",
  );
  demand(before.lost === undefined || state.lost === before.lost, "a loss is never changed");
  demand(state.lost === undefined || state.signalled !== undefined, "no loss without a signal");
  if (isOver || nowMs >= deadlineOf(state)) demand(!mayAct(state, nowMs), "nobody acts after the end");
  if (isOver) demand(!state.isRenewing, "nothing is renewed after the end");
  if (!state.hasReturned) {
    demand(nowMs < deadlineOf(state) - rules.drainMs || state.signalled !== undefined, "signalled before the drain");
    demand(nowMs < deadlineOf(state) || state.lost !== undefined, "lost at the deadline");
  }
  if (has("overrun")) demand(!before.hasReturned && state.lost !== undefined, "only what runs without a term overruns");
  return state;
}

describe("the rules of a term, under every sequence", () => {
  const events: readonly TermEvent[] = [
    tick,
    missed,
    { kind: "asked", end: stopped },
    { kind: "refused", end: revoked },
    { kind: "ended", end: fenced },
    { kind: "returned" },
  ];

  it("hold for every sequence of four events at five paces", () => {
    let count = 0;
    const explore = (state: TermState, nowMs: number, provenMs: number, depth: number): void => {
      count += 1;
      if (depth === 0) return;
      for (const paceMs of [0, 19, 45, 80, 105]) {
        const atMs = nowMs + paceMs;
        for (const event of [...events, renewed(atMs - 5)]) {
          const proven = event.kind === "renewed" ? Math.max(provenMs, event.sentAtMs) : provenMs;
          explore(judge(state, event, atMs, proven), atMs, proven, depth - 1);
        }
      }
    };
    explore(beginTerm(rules, 0), 0, 0, 4);
    expect(count).toBe(1 + 35 + 35 ** 2 + 35 ** 3 + 35 ** 4);
  });

  it("hold for long random sequences", () => {
    const error = refusal("ANY");
    const arbitraryEvent = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 60 }).map((agoMs) => ({ kind: "renewed", agoMs }) as const) },
      { weight: 3, arbitrary: fc.constant({ kind: "missed", error } as const) },
      { weight: 1, arbitrary: fc.constantFrom(...events) },
    );
    const moves = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), arbitraryEvent), { maxLength: 60 });
    fc.assert(
      fc.property(moves, (sequence) => {
        let state = beginTerm(rules, 0);
        let nowMs = 0;
        let provenMs = 0;
        for (const [paceMs, drawn] of sequence) {
          nowMs += paceMs;
          const event = "agoMs" in drawn ? renewed(nowMs - drawn.agoMs) : drawn;
          if (event.kind === "renewed") provenMs = Math.max(provenMs, event.sentAtMs);
          state = judge(state, event, nowMs, provenMs);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
