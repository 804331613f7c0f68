import { describe, expect, it } from "vitest";
import type { CandidateSpec } from "../record/candidate.ts";
import type { Strategy } from "../record/strategy.ts";
import { Arena, expressionsOf, strategyOf } from "../testing/arena.ts";

type Entry = readonly [name: string, spec: Partial<CandidateSpec>, priority?: number];

/** The names in the order of the table, for candidates that registered in the order given. */
function order(entries: readonly Entry[], strategy?: Strategy, arena = new Arena()): readonly string[] {
  for (const [name, spec, value] of entries) {
    arena.join(name, spec, value === undefined ? {} : { priority: { value, expiresAfterMs: undefined } });
  }
  if (strategy !== undefined) arena.setStrategy(strategy);
  return arena
    .decide()
    .ranking.filter(({ rank }) => rank > 0)
    .map(({ candidate }) => candidate.name);
}

const version = (compatibilityVersion: string, binaryVersion = compatibilityVersion) => ({
  compatibilityVersion,
  binaryVersion,
});

describe("the ranking of candidates", () => {
  it("statement 62: the lowest compatibility version leads, then the lowest binary, then the oldest registration", () => {
    const entries: readonly Entry[] = [
      ["e", version("1.20.0")],
      ["d", version("1.19.0", "1.20.0")],
      ["c", version("1.19.0")],
      ["b", version("1.19.0")],
      ["a", version("1.2.0")],
    ];
    expect(order(entries)).toEqual(["a", "c", "b", "d", "e"]);
    const newest = strategyOf("newestCompatibilityVersion");
    expect(order(entries, newest)).toEqual(["e", "d", "c", "b", "a"]);
  });

  it("statement 63: with everything equal the lexically lowest name leads", () => {
    const arena = new Arena();
    for (const name of ["c", "a", "b"]) arena.join(name);
    const same = { sequence: 7n, wallMs: 0, seenAtMs: 0 };
    const candidates = [...(arena.record.candidates?.values() ?? [])].map((known) => ({ ...known, registered: same }));
    arena.record.candidates = new Map(candidates.map((candidate) => [candidate.name, candidate]));
    expect(arena.decide()).toMatchObject({ winner: "a", ranking: [{ reason: "before b by name" }, {}, {}] });
    expect(arena.decide().ranking.map(({ decidedBy }) => decidedBy)).toEqual([undefined, "name", "name"]);
  });

  it("statement 64: a candidate whose version does not parse is skipped and shown", () => {
    const arena = new Arena();
    arena.join("a");
    arena.join("b");
    const known = arena.record.candidates?.get("a");
    if (known !== undefined) known.spec = { ...known.spec, binaryVersion: "v1" };
    expect(arena.decide()).toMatchObject({ winner: "b" });
    expect(arena.decide().ranking[1]).toMatchObject({
      exclusion: "versionUnparsable",
      reason: "has a version that does not parse (v1, 1.20.0)",
    });
  });

  it("one that does not say its compatibility version has that of its binary", () => {
    const entries: readonly Entry[] = [
      ["a", { ...version("", "1.20.0"), strategy: strategyOf("priority") }],
      ["b", version("1.19.0")],
    ];
    expect(order(entries)).toEqual(["b", "a"]);
  });

  it("says of each place why it is held", () => {
    const arena = new Arena();
    arena.join("a", version("1.20.0"));
    arena.join("b", version("1.19.0"));
    const { ranking, reason } = arena.decide();
    expect(reason).toBe("b is elected before a by compatibility version (1.19.0, a has 1.20.0)");
    expect(ranking).toMatchObject([
      { rank: 1, decidedBy: undefined, reason: "before a by compatibility version (1.19.0, a has 1.20.0)" },
      { rank: 2, decidedBy: "compatibilityVersion", reason: "after b by compatibility version (1.20.0, b has 1.19.0)" },
    ]);
    expect(ranking[0]?.values).toEqual([
      { criterion: "preference", value: "neutral" },
      { criterion: "compatibilityVersion", value: "1.19.0" },
      { criterion: "binaryVersion", value: "1.19.0" },
      { criterion: "registration", value: String(ranking[0]?.candidate.registered.sequence) },
      { criterion: "name", value: "b" },
    ]);
  });

  it("preferred goes before neutral before last resort, whatever the versions", () => {
    const entries: readonly Entry[] = [
      ["a", { ...version("1.18.0"), preference: "lastResort" }],
      ["b", version("1.19.0")],
      ["c", { ...version("1.20.0"), preference: "preferred" }],
    ];
    expect(order(entries)).toEqual(["c", "b", "a"]);
  });

  it("zones go in the lease's order, those that are not listed last", () => {
    const arena = new Arena();
    arena.create({ zonePreference: ["north", "south"] });
    const entries: readonly Entry[] = [
      ["a", { zone: "west" }],
      ["b", { zone: "south" }],
      ["c", { zone: "north" }],
      ["d", {}],
    ];
    expect(order(entries, undefined, arena)).toEqual(["c", "b", "a", "d"]);
    expect(arena.decide().ranking[1]).toMatchObject({
      decidedBy: "zone",
      reason: "after c by zone (south, c has north)",
    });
  });

  it("statement 103: without a priority anywhere the order is that of the plain election", () => {
    const entries: readonly Entry[] = [
      ["a", version("1.20.0")],
      ["b", version("1.19.0")],
    ];
    expect(order(entries, strategyOf("priority"))).toEqual(order(entries));
  });

  it.each(["oldestCompatibilityVersion", "newestCompatibilityVersion", "priority"] as const)(
    "statement 104: the highest priority leads under %s; equal or none: the strategy",
    (kind) => {
      const entries: readonly Entry[] = [
        ["a", version("1.18.0")],
        ["b", version("1.20.0"), 5],
        ["c", version("1.19.0"), 5],
        ["d", version("1.21.0"), 9],
      ];
      const isNewest = kind === "newestCompatibilityVersion";
      expect(order(entries, strategyOf(kind))).toEqual(isNewest ? ["d", "b", "c", "a"] : ["d", "c", "b", "a"]);
    },
  );

  it("statement 108: a priority that has run out is ignored, and the next look is when it does", () => {
    const arena = new Arena();
    arena.join("a");
    arena.join("b", {}, { priority: { value: 3, expiresAfterMs: 500 } });
    arena.crash("a");
    arena.crash("b");
    expect(arena.decide().ranking[0]?.candidate.name).toBe("b");
    arena.step();
    expect(arena.decide().lookAgainMs).toBe(500);
    arena.pass(500);
    expect(arena.decide().ranking[0]?.candidate.name).toBe("a");
  });

  it("an expression ranks by its number, before versions; an error is behind all and shown", () => {
    const arena = new Arena();
    arena.expressions = expressionsOf({
      "by-load": ({ candidate }) => {
        if (candidate.labels.load === undefined) throw new Error("no such key: load");
        return -Number(candidate.labels.load);
      },
    });
    const entries: readonly Entry[] = [
      ["a", version("1.0.0")],
      ["b", { labels: { load: "7" } }],
      ["c", { labels: { load: "3" } }],
      ["d", { labels: { load: "3" }, ...version("1.19.0") }],
    ];
    expect(order(entries, strategyOf("expression", "by-load"), arena)).toEqual(["d", "c", "b", "a"]);
    expect(arena.decide().ranking[3]).toMatchObject({
      rank: 4,
      decidedBy: "expression",
      expressionError: "no such key: load",
      reason: "after b by the expression (error, b has -7)",
    });
  });

  it("an expression that is refused, or gives no finite number, ranks nobody: versions decide, and the error is shown", () => {
    const entries: readonly Entry[] = [
      ["a", version("1.20.0")],
      ["b", version("1.19.0")],
    ];
    const arena = new Arena();
    expect(order(entries, strategyOf("expression", "nonsense"), arena)).toEqual(["b", "a"]);
    expect(arena.decide().ranking[0]?.expressionError).toBe("nonsense is unknown");
    arena.expressions = expressionsOf({ nonsense: () => Number.NaN });
    expect(arena.decide().ranking[0]?.expressionError).toBe("the result is NaN, and must be a finite number");
  });

  it("an expression sees the candidate, the lease and the holder, by the names of the API", () => {
    const arena = new Arena();
    const seen: unknown[] = [];
    arena.expressions = expressionsOf({ look: (input) => seen.push(input) });
    arena.create({ labels: { tier: "1" }, zonePreference: ["north"] });
    arena.join("a", { zone: "north", labels: { k: "v" } }, { priority: { value: 2, expiresAfterMs: undefined } });
    arena.step();
    arena.act();
    arena.setStrategy(strategyOf("expression", "look"));
    arena.decide();
    const candidate = {
      name: "a",
      binary_version: "1.20.0",
      compatibility_version: "1.20.0",
      labels: { k: "v" },
      zone: "north",
      preference: "neutral",
      priority: 2,
      component: "",
    };
    const lease = {
      namespace: "billing",
      name: "scheduler",
      labels: { tier: "1" },
      zone_preference: ["north"],
    };
    expect(seen[0]).toEqual({ candidate, lease, holder: candidate });
  });
});
