import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The statements that are shown by tests so far; later ones are added here with the services that they are about. */
const shown = [{ first: 1, last: 120 }] as const;

/** The first argument of `it`, `test` and `describe`, also behind `.each(…)`, if it is a literal. */
const titles = /(?:\b(?:it|test|describe)|\))\s*\(\s*("(?:[^"\\\n]|\\.)*"|`[^`]*`)/g;
/** A statement's number in a title: `[23] …` or `statement 23: …`. */
const numbers = /\[(\d+)\]|\bstatement (\d+)\b/g;

/** The numbers in the titles of a test file. */
function statementsIn(text: string): readonly number[] {
  const found = [...text.matchAll(titles)].flatMap(([, title = ""]) => [...title.matchAll(numbers)]);
  return found.map(([, bracketed, spelt]) => Number(bracketed ?? spelt));
}

/** Every test file of the workspaces. */
function testFiles(): readonly string[] {
  return ["packages", "services", "tests"].flatMap((area) =>
    readdirSync(join(root, area)).flatMap((workspace) => {
      const source = join(root, area, workspace, "src");
      const files = existsSync(source) ? readdirSync(source, { recursive: true, encoding: "utf8" }) : [];
      return files.filter((file) => file.endsWith(".test.ts")).map((file) => join(source, file));
    }),
  );
}

describe("the statements of behaviour", () => {
  it("have tests that carry their numbers, every one of them", () => {
    const files = testFiles();
    expect(files.length).toBeGreaterThan(50);
    const found = new Set(files.flatMap((file) => statementsIn(readFileSync(file, "utf8"))));
    const wanted = shown.flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
    expect(
      wanted.filter((number) => !found.has(number)),
      "statements without a test",
    ).toEqual([]);
  });

  it("are found in titles alone, of plain tests and of tables", () => {
    const text = [
      'it("[5] the record\'s own", () => {});',
      'it.each([[1], [2]])(\n  "[6] %s and [7]",',
      'describe("statement 21: times", () => {',
      "it(`[8] of a template`, () => {});",
      'expect(list).toEqual([9]); const text = "[10] elsewhere";',
    ].join("\n");
    expect(statementsIn(text)).toEqual([5, 6, 7, 21, 8]);
  });
});
