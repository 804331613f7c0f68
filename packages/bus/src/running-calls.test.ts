import { describe, expect, it } from "vitest";
import { RunningCalls } from "./running-calls.ts";

const caller = "tenure.reply.one.";

describe("running calls", () => {
  it("are found by the subjects that name them, alone or in batches, until they are over", () => {
    const calls = new RunningCalls<{ readonly name: string }>();
    const [alone, packed] = [{ name: "alone" }, { name: "packed" }];
    calls.add(`${caller}7`, alone);
    calls.add({ caller, number: 8 }, packed);
    calls.add({ caller: "tenure.reply.other.", number: 8 }, { name: "another's" });
    expect(calls.named(`${caller}7`)).toBe(alone);
    expect(calls.named(`${caller}8`)).toBe(packed);
    expect(calls.named(`${caller}9`)).toBeUndefined();
    expect(calls.named("7")).toBeUndefined();
    expect(calls.all).toHaveLength(3);
    calls.delete(`${caller}7`, alone);
    calls.delete({ caller, number: 8 }, packed);
    calls.delete({ caller, number: 8 }, packed);
    expect(calls.all.map(({ name }) => name)).toEqual(["another's"]);
  });

  it("of the same reply leave the first one named, and nothing behind", () => {
    const calls = new RunningCalls<{ readonly name: string }>();
    const [first, second] = [{ name: "first" }, { name: "second" }];
    const reply = { caller, number: 3 };
    for (const call of [first, second]) calls.add(reply, call);
    calls.delete(reply, second);
    expect(calls.named(`${caller}3`)).toBe(first);
    calls.delete(reply, first);
    expect(calls.all).toEqual([]);
  });

  it("of very many callers leave no more than a thousand callers behind", () => {
    const calls = new RunningCalls<object>();
    for (let index = 0; index < 3_000; index += 1) {
      const reply = { caller: `tenure.reply.${index}.`, number: 1 };
      const call = {};
      calls.add(reply, call);
      expect(calls.named(`tenure.reply.${index}.1`)).toBe(call);
      calls.delete(reply, call);
    }
    expect(calls.all).toEqual([]);
  });
});
