import type { RankingCandidate, RankingInput } from "@tenure/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { celRankings } from "./ranking-expressions.ts";

const somebody: RankingCandidate = {
  name: "a",
  binary_version: "1.20.0",
  compatibility_version: "1.19.0",
  labels: { load: "3", "app.io/role": "db" },
  zone: "north",
  preference: "neutral",
  priority: 5,
  component: "kcm",
};
const input: RankingInput = {
  candidate: somebody,
  holder: { ...somebody, name: "b", zone: "south", binary_version: "1.3.0", priority: 0 },
  lease: { namespace: "billing", name: "scheduler", labels: { tier: "1" }, zone_preference: ["north", "south"] },
};

function rank(text: string, given = input) {
  const compilation = celRankings().compile(text);
  return compilation.kind === "refused" ? compilation.problems : compilation.ranking.rank(given);
}

describe("a ranking expression", () => {
  it.each([
    ["1", 1],
    ["-1.5", -1.5],
    ["candidate.priority * 10 + 1", 51],
    ["-int(candidate.labels.load)", -3],
    ["double(candidate.labels['load']) / 2.0", 1.5],
    ["candidate.labels['app.io/role'] == 'db' ? 1 : 0", 1],
    ["has(candidate.labels.gpu) ? 2 : 1", 1],
    ["'gpu' in candidate.labels || lease.labels.tier == '1' ? 2 : 1", 2],
    ["candidate.zone == holder.zone ? 1 : 0", 0],
    ["candidate.zone in lease.zone_preference ? 1 : 0", 1],
    ["compareVersions(candidate.binary_version, holder.binary_version)", 1],
    ["versionIn(candidate.compatibility_version, '>=1.19.0 <1.20.0') ? 1 : 0", 1],
    ["candidate.name.startsWith('a') && !candidate.name.endsWith('z') ? size(candidate.labels) : 0", 2],
  ] as const)("%s gives %d", (text, value) => {
    expect(rank(text)).toEqual({ kind: "value", value });
  });

  it.each([
    ["", "Unexpected token: EOF (at character 1)"],
    ["1 +", "Unexpected token: EOF (at character 4)"],
    ["'a'", "must give an int or a double, and gives string"],
    ["true", "must give an int or a double, and gives bool"],
    ["1u", "must give an int or a double, and gives uint"],
    ["candidate.colour", "No such key: colour (at character 11)"],
    ["candidat.name", "Unknown variable: candidat (at character 1)"],
    ["candidate.priority + candidate.name", "no such overload: int + string (at character 1)"],
    ["true ? 1 : 2.0", "Ternary branches must have the same type, got 'int' and 'double' (at character 1)"],
    ["candidate.name.matches('(a+)+$') ? 1 : 0", ".matches() is not offered to ranking expressions"],
    ["lease.zone_preference.exists(z, z == 'a') ? 1 : 0", ".exists() is not offered to ranking expressions"],
    ["size(lease.zone_preference.map(z, z))", ".map() is not offered to ranking expressions"],
    ["cel.bind(x, 1, x)", ".bind() is not offered to ranking expressions"],
    ["timestamp(1).getFullYear()", ".getFullYear() is not offered to ranking expressions"],
    ["int(dyn('1'))", "dyn() is not offered to ranking expressions"],
    [`${"1 + ".repeat(200)}1`, "Exceeded maxAstNodes (256)"],
    [`${"(".repeat(100)}1${")".repeat(100)}`, "Exceeded maxDepth (32)"],
    [`size('${"x".repeat(2_100)}')`, "must have at most 2048 bytes, and has 2108"],
  ])("%s is refused when it is compiled: %s", (text, problem) => {
    const problems = rank(text) as readonly string[];
    expect(problems[0]?.startsWith(problem)).toBe(true);
  });

  it.each([
    ["int(candidate.labels.gpu)", "No such key: gpu (at character 22)"],
    ["int(candidate.labels['app.io/role'])", "int() type error: cannot convert to int"],
    ["1 / candidate.labels.size() / 0", "division by zero"],
    ["1.0 / 0.0", "the result is Infinity, and must be finite and below 2^53"],
    ["9007199254740993", "the result is 9007199254740993, and must be finite and below 2^53"],
    ["9223372036854775807 + candidate.priority", "integer overflow"],
    ["compareVersions(candidate.name, '1.0.0')", '"a" is not a semantic version x.y.z'],
    ["versionIn('1.0.0', 'latest') ? 1 : 0", '"latest" is not a range of versions'],
  ])("%s is an error for the candidate: %s", (text, message) => {
    const result = rank(text) as { kind: string; message: string };
    expect(result.kind).toBe("error");
    expect(result.message.startsWith(message)).toBe(true);
  });

  it("sees no key that a label does not have, whatever JavaScript objects inherit", () => {
    for (const key of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      expect(rank(`'${key}' in candidate.labels || has(candidate.labels.${key}) ? 1 : 0`)).toEqual({
        kind: "value",
        value: 0,
      });
    }
  });

  it("whoever leads is empty while nobody does", () => {
    const nobody = { ...somebody, name: "", labels: {}, zone: "", priority: 0 };
    expect(rank("holder.name == '' ? 1 : 0", { ...input, holder: nobody })).toEqual({ kind: "value", value: 1 });
  });

  it("is compiled once, and gives the same result every time", () => {
    const rankings = celRankings();
    expect(rankings.compile("candidate.priority")).toBe(rankings.compile("candidate.priority"));
    for (let number = 0; number < 1_000; number++) rankings.compile(String(number));
    expect(rankings.compile("7")).toMatchObject({ kind: "compiled" });
  });

  it("never throws and never leaves the numbers, whatever its text", () => {
    const words = [
      "candidate",
      ".",
      "priority",
      "labels",
      "holder",
      "name",
      "+",
      "-",
      "*",
      "/",
      "(",
      ")",
      "[",
      "]",
      "'a'",
      "1",
      "2.0",
      "?",
      ":",
      "&&",
      "==",
      "in",
      "size",
      "int",
      "has",
      ",",
      "{",
      "}",
      "!",
      "\u0000",
      "é",
    ];
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...words), { maxLength: 20 }).map((list) => list.join(" ")),
    );
    const rankings = celRankings();
    fc.assert(
      fc.property(text, (expression) => {
        const compilation = rankings.compile(expression);
        if (compilation.kind === "refused") {
          expect(compilation.problems.length).toBeGreaterThan(0);
          return;
        }
        const result = compilation.ranking.rank(input);
        expect(result.kind === "error" || Number.isFinite(result.value)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
