import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { JoinedSignal } from "./joined-signal.ts";

describe("a joined signal", () => {
  it("is aborted by whichever is aborted first, with its reason", () => {
    const [one, other] = [new AbortController(), new AbortController()];
    using joined = new JoinedSignal([one.signal, other.signal]);
    expect(joined.signal.aborted).toBe(false);
    other.abort(new Error("first"));
    one.abort(new Error("second"));
    expect(joined.signal.reason).toEqual(new Error("first"));
  });

  it("is aborted from the beginning if one of them is", () => {
    const one = new AbortController();
    using joined = new JoinedSignal([one.signal, undefined, AbortSignal.abort(new Error("over"))]);
    expect(joined.signal.reason).toEqual(new Error("over"));
  });

  it("leaves nothing behind when it is disposed of", () => {
    const one = new AbortController();
    const joined = new JoinedSignal([one.signal]);
    expect(getEventListeners(one.signal, "abort")).toHaveLength(1);
    joined[Symbol.dispose]();
    expect(getEventListeners(one.signal, "abort")).toHaveLength(0);
    one.abort();
    expect(joined.signal.aborted).toBe(false);
  });
});
