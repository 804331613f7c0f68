import { describe, expect, it } from "vitest";
import { Arena, expressionsOf, strategyOf } from "../testing/arena.ts";
import { defaultElectionTiming } from "./view.ts";

const { answerBoundMs } = defaultElectionTiming;
const older = { compatibilityVersion: "1.19.0" };

/** A lease that `a` leads at 1.20.0. */
function led(spec: Parameters<Arena["create"]>[0] = {}): Arena {
  const arena = new Arena();
  arena.create(spec);
  arena.join("a");
  arena.step();
  arena.act();
  expect(arena.holder).toBe("a");
  arena.commands = [];
  return arena;
}

/** `b` joins, is chosen and does not accept, so that `a` leads again. */
function missAccept(arena: Arena, spec: Parameters<Arena["join"]>[1]): void {
  arena.join("b", spec);
  arena.stubborn.add("b");
  arena.step();
  arena.act();
  arena.step();
  arena.pass(2_000);
  arena.step();
  arena.act();
  expect(arena.holder).toBe("a");
  arena.pass(10_000);
}

describe("a term that a coordinator gave", () => {
  it("statement 69: a better candidate is named to follow; holder and renewal stay as they are", () => {
    const arena = led();
    const before = { ...arena.record.holds[0] };
    arena.join("b", older);
    expect(arena.step()).toMatchObject({
      action: { kind: "markEndOfTerm", preferredHolder: "b", token: before.token },
      outcome: "endOfTerm",
      trigger: "betterCandidate",
      winner: "b",
      reason: "a is asked to finish: b is before a by compatibility version (1.19.0, a has 1.20.0)",
    });
    expect(arena.record.holds[0]).toMatchObject({ holder: "a", token: before.token, renewal: before.renewal });
    expect(arena.record).toMatchObject({
      preferredHolder: "b",
      endOfTerm: { decisionId: expect.stringMatching(/^d-/) },
    });
  });

  it("a better candidate must have answered before the term is marked; one that does not is no reason", () => {
    const arena = led();
    arena.join("b", older, { life: "answering" });
    expect(arena.step()).toMatchObject({ action: { kind: "ping", candidates: ["b"] }, expectedLeader: "b" });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "pinged", lookAgainMs: answerBoundMs });
    arena.act();
    expect(arena.decide()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "b" } });
    const other = led();
    other.join("b", older, { life: "dead" });
    other.step();
    other.pass(answerBoundMs);
    expect(other.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept", expectedLeader: "a" });
  });

  it("statement 72: when the marked term is over, the named candidate is elected and the mark is gone in one step", () => {
    const arena = led();
    arena.join("b", older);
    arena.step();
    arena.alive.delete("a");
    arena.pass(15_000);
    expect(arena.record).toMatchObject({ holds: [], preferredHolder: "b" });
    expect(arena.step()).toMatchObject({ action: { kind: "elect", candidate: "b" } });
    expect(arena.record).toMatchObject({ pending: { candidate: "b" }, preferredHolder: "", endOfTerm: undefined });
  });

  it("statement 73: nobody is elected while a term runs, also one that is overdue here and not ended in the log", () => {
    const arena = led();
    arena.join("b", older);
    arena.step();
    arena.desk.advance(14_999);
    expect(arena.decide().action.kind).not.toBe("elect");
    arena.desk.advance(60_000);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, lookAgainMs: 1_000 });
  });

  it.each([
    ["withdraws", (arena: Arena) => arena.withdraw("b")],
    ["is cordoned", (arena: Arena) => arena.setCordon("b", true)],
    ["says never", (arena: Arena) => arena.join("b", { ...older, preference: "never" })],
    ["is no longer better", (arena: Arena) => arena.join("b", { binaryVersion: "1.21.0" })],
  ] as const)("statement 74: the mark is cleared and the holder goes on when the better candidate %s", (_, change) => {
    const arena = led();
    arena.join("b", older);
    arena.step();
    change(arena);
    expect(arena.step()).toMatchObject({
      action: { kind: "clearEndOfTerm" },
      outcome: "endOfTermCleared",
      trigger: "successorGone",
    });
    expect(arena.record).toMatchObject({ preferredHolder: "", endOfTerm: undefined });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept" });
  });

  it("statement 74: a successor that falls silent is asked, then the mark is cleared", () => {
    const arena = led();
    arena.join("b", older);
    arena.step();
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "endOfTerm", lookAgainMs: 2_001 });
    arena.crash("b");
    expect(arena.step()).toMatchObject({ action: { kind: "ping", candidates: ["b"] } });
    arena.pass(answerBoundMs - 1);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "endOfTerm", lookAgainMs: 1 });
    arena.pass(1);
    expect(arena.step()).toMatchObject({ action: { kind: "clearEndOfTerm" } });
  });

  it("names the next better candidate when the first is gone, or when one still better answers", () => {
    const arena = led();
    arena.join("b", older);
    arena.step();
    arena.join("c", { compatibilityVersion: "1.18.0" });
    expect(arena.step()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "c" } });
    arena.withdraw("c");
    expect(arena.step()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "b" } });
  });

  it("an operator's mark is left alone while its successor is there, whatever its rank, and cleared when it is not", () => {
    const arena = led();
    arena.join("b", { binaryVersion: "1.21.0" });
    const mark = (preferredHolder: string) => {
      const expectedRevision = arena.record.revision.sequence;
      const token = arena.record.lastToken;
      const body = { kind: "markEndOfTerm", lease: arena.lease, expectedRevision, token, preferredHolder } as const;
      arena.desk.run(body, "op");
    };
    mark("b");
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "endOfTerm", winner: "b" });
    arena.withdraw("b");
    expect(arena.step()).toMatchObject({ action: { kind: "clearEndOfTerm" } });
    mark("");
    expect(arena.decide()).toMatchObject({
      action: { kind: "none" },
      outcome: "endOfTerm",
      reason: "a is asked to finish",
    });
  });

  it("statement 75: while the holder is the best nobody is asked and nothing is written", () => {
    const arena = led();
    arena.join("b", { binaryVersion: "1.21.0" }, { life: "answering" });
    arena.join("c", {}, { life: "dead" });
    for (let minute = 0; minute < 20; minute++) {
      arena.step();
      arena.pass(60_000);
    }
    expect(arena.commands).toEqual([]);
  });

  it("a tie does not end a term: who registered first decides elections only", () => {
    const arena = new Arena();
    arena.join("b", {}, { life: "dead" });
    arena.join("a");
    arena.step();
    arena.pass(answerBoundMs);
    arena.step();
    arena.act();
    arena.join("b");
    expect(arena.decide()).toMatchObject({
      action: { kind: "none" },
      outcome: "kept",
      reason: "a stays: no candidate that answers is better",
      ranking: [{ candidate: { name: "b" } }, { candidate: { name: "a" }, decidedBy: "registration" }],
    });
  });

  it("statement 76: a better candidate that is dead is asked once per back-off step, and nobody else at all", () => {
    const arena = led();
    arena.join("b", older, { life: "dead" });
    arena.join("c", {}, { life: "answering" });
    const asked: (readonly string[])[] = [];
    const endMs = arena.desk.now + 600_000;
    for (let look = 0; look < 500 && arena.desk.now < endMs; look++) {
      const { action, lookAgainMs } = arena.step();
      if (action.kind === "ping") asked.push(action.candidates);
      arena.pass(action.kind === "none" ? lookAgainMs : 1);
    }
    expect(asked.flat().every((name) => name === "b")).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(13);
    expect(asked.length).toBeGreaterThan(5);
    arena.alive.add("b");
    arena.act();
    expect(arena.decide()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "b" } });
  });

  it.each(["acquired", "written"] as const)(
    "statement 83, statement 85: a holder that no coordinator elected (%s) is left alone, and nothing is written again and again",
    (origin) => {
      const arena = new Arena();
      if (origin === "acquired") arena.desk.take("legacy", arena.lease);
      else {
        const written = {
          holder: "legacy",
          holderKey: "",
          leaseDurationMs: 15_000,
          times: {},
          strategy: undefined,
          preferredHolder: undefined,
        };
        const update = { kind: "update", lease: arena.lease, spec: {}, createIfAbsent: true, written } as const;
        arena.desk.run({ ...update, expectedRevision: undefined, expectedUid: undefined }, "legacy");
      }
      expect(arena.record.holds[0]?.origin).toBe(origin);
      arena.join("a", older);
      for (let look = 0; look < 20; look++) arena.step();
      expect(arena.commands).toEqual([]);
      expect(arena.decide()).toMatchObject({ outcome: "foreignHolder", holder: "legacy", ranking: [{ rank: 1 }] });
    },
  );

  it("rule 21: a fallback claim counts as elected, so a better candidate ends its term", () => {
    const arena = new Arena();
    arena.create({ fallbackDelayMs: 1_000 });
    arena.join("a");
    arena.desk.advance(1_000);
    arena.desk.take("a", arena.lease, { fallbackCandidate: "a" });
    arena.join("b", older);
    expect(arena.step()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "b" } });
  });

  it("statement 105: a higher priority goes through the cooperative path, and two terms never overlap", () => {
    const arena = led();
    arena.join("b");
    arena.setPriority("b", 7);
    expect(arena.step()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "b" } });
    expect(arena.holder).toBe("a");
    arena.act();
    expect(arena.holder).toBe("");
    arena.step();
    arena.act();
    expect(arena.holder).toBe("b");
    expect(arena.commands).toEqual(["markEndOfTerm", "elect"]);
  });

  it("a term is not ended before its minimum, and is looked at again then", () => {
    const arena = led({ minimumTermMs: 20_000 });
    arena.join("b", older);
    arena.pass(5_000);
    expect(arena.decide()).toMatchObject({
      action: { kind: "none" },
      outcome: "kept",
      expectedLeader: "b",
      lookAgainMs: 15_000,
    });
    arena.pass(15_000);
    expect(arena.step()).toMatchObject({ action: { kind: "markEndOfTerm" } });
  });

  it("statement 107: one that lost its term sits out the cool-down, so contradicting wishes cannot flap", () => {
    const arena = led({ coolDownMs: 30_000 });
    arena.join("b", older);
    arena.step();
    arena.act();
    arena.step();
    arena.act();
    expect(arena.holder).toBe("b");
    arena.setPriority("a", 9);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept" });
    expect(arena.decide().ranking[1]).toMatchObject({ exclusion: "coolDown" });
    arena.pass(30_000);
    expect(arena.decide()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "a" } });
  });

  it("statement 107: an expression that always prefers another cannot make the leader go round", () => {
    const arena = led();
    arena.expressions = expressionsOf({ other: ({ candidate, holder }) => (candidate.name === holder.name ? 0 : 1) });
    arena.join("b");
    arena.join("c");
    arena.setStrategy(strategyOf("expression", "other"));
    expect(arena.decide()).toMatchObject({
      action: { kind: "none" },
      outcome: "kept",
      reason: "a stays: were b the holder, the expression would at once rank another before it",
    });
    arena.expressions = expressionsOf({ other: ({ candidate }) => (candidate.name === "c" ? 1 : 0) });
    expect(arena.decide()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "c" } });
  });

  it("a candidate that missed its accept must wait much longer before another leader is asked to go for it", () => {
    const arena = led();
    missAccept(arena, older);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept" });
    arena.pass(22_000);
    expect(arena.decide()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "b" } });
  });

  it.each([
    ["by versions", undefined],
    ["by an expression", strategyOf("expression", "alike")],
  ])("another that is better %s does not wait for one that missed its accept", (_, strategy) => {
    const arena = led();
    arena.expressions = expressionsOf({ alike: () => 0 });
    if (strategy !== undefined) arena.setStrategy(strategy);
    missAccept(arena, { compatibilityVersion: "1.18.0" });
    arena.join("c", older);
    expect(arena.step()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "c" } });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "endOfTerm", winner: "c" });
    arena.withdraw("c");
    expect(arena.decide()).toMatchObject({ action: { kind: "clearEndOfTerm" } });
  });

  it("a leader that says it is unhealthy or wants no more is asked to finish; one that is cordoned or withdrew is not", () => {
    for (const change of [
      { isHealthy: false },
      { preference: "never" } as const,
      { preference: "lastResort" } as const,
    ]) {
      const arena = led();
      arena.join("b", { binaryVersion: "1.21.0" });
      arena.join("a", change);
      expect(arena.decide()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "b" } });
    }
    const arena = led();
    arena.join("b", { binaryVersion: "1.21.0" });
    arena.setCordon("a", true);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept" });
    const body = {
      kind: "withdrawCandidate",
      lease: arena.lease,
      candidate: "a",
      expectedRevision: undefined,
    } as const;
    arena.desk.run(body, "a");
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept", holder: "a" });
  });

  it("a revoked term runs out and is left to that", () => {
    const arena = led();
    arena.join("b", older);
    const expectedRevision = arena.record.revision.sequence;
    arena.desk.run({ kind: "revoke", lease: arena.lease, expectedRevision, token: 0n }, "op");
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept", lookAgainMs: 15_000 });
  });

  it("clears its mark when no candidate is left at all", () => {
    const arena = led();
    arena.join("b", older);
    arena.step();
    arena.withdraw("b");
    arena.desk.run({ kind: "withdrawCandidate", lease: arena.lease, candidate: "a", expectedRevision: undefined }, "a");
    expect(arena.step()).toMatchObject({ action: { kind: "clearEndOfTerm" } });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "nobody", holder: "a" });
  });
});
