import { describe, expect, it } from "vitest";
import { nextTakeoverMs, noTakeovers, noteTakeover } from "./takeover-history.ts";
import { defaultOwnershipTiming as timing } from "./timing.ts";

describe("the back-off of takeovers", () => {
  it("lets the first takeover be at once and doubles the wait from then on, up to the limit", () => {
    let history = noTakeovers;
    expect(nextTakeoverMs(history, timing)).toBe(Number.NEGATIVE_INFINITY);
    const waits: number[] = [];
    let now = 1_000;
    for (let takeover = 0; takeover < 8; takeover += 1) {
      history = noteTakeover(history, now, timing);
      waits.push(nextTakeoverMs(history, timing) - now);
      now = nextTakeoverMs(history, timing);
    }
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  it("starts from the first wait again after a calm spell", () => {
    const first = noteTakeover(noteTakeover(noTakeovers, 0, timing), 500, timing);
    expect(noteTakeover(first, 500 + timing.calmMs, timing).takeovers).toBe(3);
    expect(noteTakeover(first, 501 + timing.calmMs, timing).takeovers).toBe(1);
  });
});

describe("the timing of ownership", () => {
  it("takes no partition from an owner that lives", () => {
    expect(timing.silenceMs).toBeGreaterThanOrEqual(3 * timing.beatIntervalMs);
    expect(timing.settleMs).toBeGreaterThanOrEqual(2 * timing.silenceMs);
  });
});
