import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extendHistory, type History, historyOf, linesOf } from "./history.ts";
import type { Transition } from "./transition.ts";

const line: fc.Arbitrary<Transition> = fc
  .record({
    sequence: fc.bigInt({ min: 1n, max: 9n }),
    kind: fc.constantFrom("created", "granted", "elected", "ended", "endOfTermMarked", "updated", "restored"),
    holder: fc.constantFrom("", "a", "b"),
    token: fc.bigInt({ min: 0n, max: 3n }),
    author: fc.constantFrom("", "p"),
    cause: fc.constantFrom(undefined, "acquired", "released", "expired", "written", "collected"),
    details: fc.constantFrom(undefined, { heldForMs: 5 }, { reason: "why" }),
  } as const)
  .map(({ details, sequence, ...rest }) => {
    const plain = { ...rest, position: { sequence, wallMs: 1, seenAtMs: 2 } };
    return details === undefined ? plain : { ...plain, details };
  });

describe("a history", () => {
  it("gives back the lines that it was made of", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        expect(linesOf(historyOf(lines))).toEqual(lines);
      }),
    );
  });

  it("has the newest lines up to the bound that each was added with, and earlier ones stay as they were", () => {
    const added = fc.array(fc.record({ line, most: fc.integer({ min: 1, max: 12 }) }), { maxLength: 80 });
    fc.assert(
      fc.property(added, (steps) => {
        let history: History | undefined;
        let expected: readonly Transition[] = [];
        const earlier: { history: History; lines: readonly Transition[] }[] = [];
        for (const { line: next, most } of steps) {
          history = extendHistory(history, next, most);
          expected = [...expected, next].slice(-most);
          expect(history.count).toBe(expected.length);
          earlier.push({ history, lines: expected });
        }
        for (const { history: then, lines } of earlier) expect(linesOf(then)).toEqual(lines);
      }),
    );
  });

  it("keeps few lines linked that no longer count", () => {
    const sample = fc.sample(line, 1)[0];
    if (sample === undefined) throw new Error("there is no line");
    let history: History | undefined;
    let most = 0;
    for (let number = 0; number < 1_000; number += 1) {
      history = extendHistory(history, sample, 32);
      let linked = 0;
      for (let each: History | undefined = history; each !== undefined; each = each.before) linked += 1;
      most = Math.max(most, linked);
    }
    expect(most).toBe(64);
  });

  it("tells the newest lines as long as they are wanted", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 10 }), fc.bigInt({ min: 1n, max: 9n }), (lines, sequence) => {
        const from = lines.findLastIndex(({ position }) => position.sequence !== sequence) + 1;
        const found = linesOf(historyOf(lines), ({ position }) => position.sequence === sequence);
        expect(found).toEqual(lines.slice(from));
      }),
    );
  });
});
