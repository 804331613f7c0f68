import { describe, expect, it } from "vitest";
import { wrap } from "./wrap.ts";

describe("words with commas between", () => {
  it.each([
    [[], 10, ""],
    [["a"], 10, "a"],
    [["a", "b", "c"], 7, "a, b, c"],
    [["a", "b", "c"], 6, "a, b,\nc"],
    [["longer-than-that", "b"], 6, "longer-than-that,\nb"],
  ])("%j in %i columns", (words, width, expected) => {
    expect(wrap(words, width)).toBe(expected);
  });
});
