import { describe, expect, it } from "vitest";
import { StopStack } from "./stop-stack.ts";

describe("StopStack", () => {
  it("runs its steps one after the other, last in first out, once", async () => {
    const stack = new StopStack();
    const order: string[] = [];
    stack.push("first", () => order.push("first"));
    stack.push("second", async () => {
      await Promise.resolve();
      order.push("second");
    });
    stack.push("third", () => order.push("third"));
    expect(await stack.run((step) => order.push(`-> ${step}`))).toEqual([]);
    expect(order).toEqual(["-> third", "third", "-> second", "second", "-> first", "first"]);
    await stack.run();
    expect(order).toHaveLength(6);
  });

  it("goes on after a step that fails, and says which did", async () => {
    const stack = new StopStack();
    let reached = false;
    const error = new Error("stuck");
    stack.push("last", () => {
      reached = true;
    });
    stack.push("throws", () => {
      throw error;
    });
    stack.push("rejects", () => Promise.reject(error));
    expect(await stack.run()).toEqual([
      { step: "rejects", error },
      { step: "throws", error },
    ]);
    expect(reached).toBe(true);
  });
});
