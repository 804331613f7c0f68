import { expect, test } from "vitest";
import { percentReporter } from "./progress.ts";

test("progress is told in steps of ten, never twice and never backwards", () => {
  const lines: string[] = [];
  const report = percentReporter("list", (line) => lines.push(line));
  for (const percent of [0, 3, 9.9, 12, 15, 19.9, 20, 45.7, 44, 49, 100, 100, 130]) report(percent);
  expect(lines).toEqual(["list: 12 %", "list: 20 %", "list: 45 %", "list: 100 %"]);
});
