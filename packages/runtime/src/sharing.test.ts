import { describe, expect, it } from "vitest";
import { sharing } from "./sharing.ts";

describe("sharing", () => {
  it("asks once for callers at the same time, and again afterwards", async () => {
    let asked = 0;
    const ask = sharing(async (question: string) => `${question} ${++asked}`);
    expect(await Promise.all([ask("a"), ask("a"), ask("b")])).toEqual(["a 1", "a 1", "b 2"]);
    expect(await ask("a")).toBe("a 3");
  });

  it("shares a failure and does not keep it", async () => {
    let fails = true;
    const ask = sharing(async (_question: boolean) => {
      if (fails) throw new Error("away");
      return "here";
    });
    const both = [ask(true), ask(true)];
    for (const answer of both) await expect(answer).rejects.toThrow("away");
    fails = false;
    expect(await ask(true)).toBe("here");
  });
});
