import { describe, expect, it } from "vitest";
import { Arena, strategyOf } from "../testing/arena.ts";

const vendor = strategyOf("vendor", "example.com/best");

describe("the strategy of an election", () => {
  it("statement 65: by default the fixed precedence decides; the highest binary version does where the lease says so", () => {
    const candidates = (arena: Arena) => {
      arena.join("old", { strategy: strategyOf("priority"), binaryVersion: "1.20.0" });
      arena.join("new", { strategy: strategyOf("newestCompatibilityVersion"), binaryVersion: "1.21.0" });
      return arena.decide().strategy?.kind;
    };
    expect(candidates(new Arena())).toBe("priority");
    const arena = new Arena();
    arena.create({ consensusRule: "highestBinaryVersion" });
    expect(candidates(arena)).toBe("newestCompatibilityVersion");
  });

  it("statement 66: conflicting strategies elect nobody, leave the holder, and are reported once", () => {
    const arena = new Arena();
    arena.join("a");
    arena.step();
    arena.act();
    arena.join("b", { strategy: strategyOf("expression", "1") });
    arena.join("c", { strategy: strategyOf("expression", "2") });
    const reason = 'nobody is elected by guess: b want the expression "1"; c want the expression "2"';
    expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" }, outcome: "conflict", holder: "a", reason });
    expect(arena.record.conflict?.sides.map(({ candidates }) => candidates)).toEqual([["b"], ["c"]]);
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "conflict", expectedLeader: "a" });
    arena.release();
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "conflict", winner: "" });
    arena.withdraw("c");
    arena.expressions = { compile: () => ({ kind: "refused", problems: ["no"] }) };
    expect(arena.step()).toMatchObject({ action: { kind: "elect", strategy: { kind: "expression" } } });
    expect(arena.record.conflict).toBeUndefined();
  });

  it("statement 66: a conflict is reported also on a lease that did not exist", () => {
    const arena = new Arena();
    arena.join("a", { strategy: vendor });
    arena.join("b", { strategy: strategyOf("vendor", "example.com/other") });
    arena.step();
    expect(arena.record).toMatchObject({ holds: [], strategy: undefined });
    expect(arena.record.conflict?.sides).toHaveLength(2);
  });

  it("statement 66: with nobody in the lead, those whose wishes conflict are asked, and who is gone has no say", () => {
    const arena = new Arena();
    arena.join("a", { strategy: vendor }, { life: "dead" });
    arena.join("b", { strategy: strategyOf("vendor", "example.com/other") }, { life: "answering" });
    expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" }, outcome: "conflict" });
    expect(arena.step()).toMatchObject({ action: { kind: "ping", candidates: ["a", "b"] }, outcome: "conflict" });
    arena.act();
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "conflict", lookAgainMs: 5_000 });
    arena.pass(5_000);
    expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" }, strategy: { vendor: "example.com/other" } });
    expect(arena.record.conflict).toBeUndefined();
    arena.join("a", { strategy: vendor });
    expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" }, outcome: "conflict" });
    arena.commands = [];
    for (let second = 0; second < 300; second++) {
      arena.step();
      arena.act();
      arena.pass(1_000);
    }
    expect(arena.commands).toEqual(Array(5).fill("pingCandidates"));
  });

  it("statement 67: with the rule of the highest version a conflict below it does not matter, in any order", () => {
    for (const names of [
      ["x", "y", "z"],
      ["z", "y", "x"],
    ]) {
      const arena = new Arena();
      arena.create({ consensusRule: "highestBinaryVersion" });
      for (const name of names) {
        const isHigh = name === "y";
        const strategy = isHigh
          ? strategyOf("oldestCompatibilityVersion")
          : strategyOf("vendor", `example.com/${name}`);
        arena.join(name, { binaryVersion: isHigh ? "1.21.0" : "1.20.0", strategy });
      }
      expect(arena.decide()).toMatchObject({ outcome: "elected", strategy: { kind: "oldestCompatibilityVersion" } });
    }
  });

  it("statement 68: a vendor's strategy is written on the lease, and the choice left to others", () => {
    const arena = new Arena();
    arena.join("a", { strategy: vendor });
    expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" }, outcome: "leftToOthers" });
    expect(arena.record).toMatchObject({
      holds: [],
      strategy: { strategy: vendor, source: "consensus" },
    });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "leftToOthers" });
    const expectedRevision = arena.record.revision.sequence;
    const elect = {
      kind: "elect",
      lease: arena.lease,
      expectedRevision,
      candidate: "a",
      coordinator: "vendor",
    } as const;
    arena.desk.run(elect, "vendor");
    arena.act();
    expect(arena.holder).toBe("a");
    arena.join("b", { strategy: vendor, compatibilityVersion: "1.0.0" });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "leftToOthers", expectedLeader: "a" });
  });

  it("NoCoordination is watched and never written to a lease that does not exist", () => {
    const arena = new Arena();
    arena.join("a", { strategy: strategyOf("noCoordination") });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "leftToOthers" });
    arena.create();
    expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" } });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" } });
  });

  it("an operator's strategy overrides the candidates' until it is given back", () => {
    const arena = new Arena();
    arena.join("a", { compatibilityVersion: "1.19.0" });
    arena.join("b");
    arena.setStrategy(strategyOf("newestCompatibilityVersion"));
    expect(arena.step()).toMatchObject({ winner: "b", isOperators: true });
    expect(arena.record.strategy).toMatchObject({ source: "operator" });
    arena.act();
    arena.setStrategy(undefined);
    expect(arena.step()).toMatchObject({ action: { kind: "markEndOfTerm", preferredHolder: "a" }, isOperators: false });
  });

  it("writes the candidates' new consensus once while the holder stays", () => {
    const arena = new Arena();
    arena.join("a");
    arena.step();
    arena.act();
    arena.join("a", { strategy: strategyOf("priority") });
    expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" }, outcome: "kept" });
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "kept" });
  });

  it("takes back its own mark when the strategies come to conflict or leave the choice to others", () => {
    for (const strategies of [[vendor], [strategyOf("expression", "1"), strategyOf("expression", "2")]]) {
      const arena = new Arena();
      arena.join("a");
      arena.step();
      arena.act();
      arena.join("b", { compatibilityVersion: "1.19.0" });
      arena.step();
      for (const [place, strategy] of strategies.entries()) arena.join(`c${place}`, { strategy });
      expect(arena.step()).toMatchObject({ action: { kind: "clearEndOfTerm" }, outcome: "endOfTermCleared" });
      expect(arena.step()).toMatchObject({ action: { kind: "putStrategy" }, holder: "a" });
    }
  });

  it("leaves a counted lease alone", () => {
    const arena = new Arena();
    arena.create({ mode: "counted", capacity: 3 });
    arena.join("a");
    expect(arena.decide()).toMatchObject({ action: { kind: "none" }, outcome: "leftToOthers" });
  });
});
