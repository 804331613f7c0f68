import { describe, expect, it } from "vitest";
import {
  followsOutage,
  guardOf,
  mayExpire,
  newExpiryGuard,
  noteAppendAcked,
  noteConnectionLost,
  owesPause,
} from "./expiry-guard.ts";
import { emptyPartition } from "./partition/state.ts";

const timing = { renewIntervalMs: 2_000, requestTimeoutMs: 2_000 };
const acked = (guard = newExpiryGuard(), sentAtMs = 0, now = 10) => noteAppendAcked(guard, sentAtMs, now, timing);

describe("the expiry guard (rule 17)", () => {
  it("a new owner probes first", () => {
    expect(mayExpire(newExpiryGuard(), 0)).toEqual({ kind: "probeFirst" });
  });

  it.each([
    [1_010, "allowed"],
    [1_011, "probeFirst"],
  ])("an append acknowledged at 10 ms is at %i ms: %s", (now, kind) => {
    expect(mayExpire(acked(), now).kind).toBe(kind);
  });

  it("an append that took over 1 s pauses expiry for R + T + 1 s after it", () => {
    expect(mayExpire(acked(newExpiryGuard(), 0, 1_000), 1_000).kind).toBe("allowed");
    const slow = acked(newExpiryGuard(), 0, 1_001);
    expect(mayExpire(slow, 1_001)).toEqual({ kind: "paused", untilMs: 6_001 });
    expect(mayExpire(slow, 6_000).kind).toBe("paused");
    expect(mayExpire(slow, 6_001).kind).toBe("probeFirst");
    expect(mayExpire(acked(slow, 6_001, 6_010), 6_010).kind).toBe("allowed");
  });

  it("a dropped connection pauses after the next acknowledgement, even a prompt one", () => {
    const dropped = noteConnectionLost(acked(), 15);
    expect(mayExpire(dropped, 20)).toEqual({ kind: "probeFirst" });
    const back = acked(dropped, 30_000, 30_010);
    expect(mayExpire(back, 30_010)).toEqual({ kind: "paused", untilMs: 35_010 });
    expect(mayExpire(acked(back, 35_010, 35_020), 35_020).kind).toBe("allowed");
  });

  const handedOver = { epoch: 4n, owner: "a", successor: "b" };
  it.each([
    ["a partition that nobody ever owned", {}, "allowed"],
    ["what its owner handed to it", handedOver, "allowed"],
    ["what its owner handed to it while holders were owed time", { ...handedOver, owesPause: true }, "paused"],
    ["what its owner handed to another", { ...handedOver, successor: "c" }, "paused"],
    ["what its owner left without a word", { ...handedOver, successor: "" }, "paused"],
  ])("an owner that takes %s has expiry %s after its first append", (_, more, kind) => {
    const guard = guardOf({ ...emptyPartition(0, 0), ...more }, "b");
    expect(mayExpire(guard, 0)).toEqual({ kind: "probeFirst" });
    const isPaused = kind === "paused";
    expect([owesPause(guard, 0), followsOutage(guard, 0, 10)]).toEqual([isPaused, isPaused]);
    const first = acked(guard);
    expect(mayExpire(first, 20).kind).toBe(kind);
    expect([owesPause(first, 5_009), owesPause(first, 5_010)]).toEqual([isPaused, false]);
    expect(mayExpire(acked(first, 5_010, 5_011), 5_011).kind).toBe("allowed");
  });

  it("an append follows an outage once", () => {
    expect(followsOutage(newExpiryGuard(), 0, 1_000)).toBe(false);
    expect(followsOutage(newExpiryGuard(), 0, 1_001)).toBe(true);
    const slow = acked(newExpiryGuard(), 0, 2_000);
    expect(followsOutage(slow, 2_000, 4_000)).toBe(false);
    expect(followsOutage(noteConnectionLost(slow, 1_990), 2_000, 2_010)).toBe(true);
  });

  it("an append that was sent before the connection dropped ends no outage, however late its answer is taken in", () => {
    const dropped = noteConnectionLost(newExpiryGuard(), 5);
    expect(followsOutage(dropped, 5, 10)).toBe(true);
    const late = acked(dropped, 5, 10);
    expect([mayExpire(late, 20).kind, owesPause(late, 20)]).toEqual(["probeFirst", true]);
    expect(mayExpire(acked(late, 400, 410), 410)).toEqual({ kind: "paused", untilMs: 5_410 });
  });

  it("pauses once per outage: a store that stays slow still expires the dead", () => {
    let guard = acked(newExpiryGuard(), 0, 2_000);
    expect(mayExpire(guard, 2_000)).toMatchObject({ untilMs: 7_000 });
    guard = acked(guard, 2_000, 4_000);
    expect(mayExpire(guard, 4_000)).toMatchObject({ untilMs: 7_000 });
    guard = acked(guard, 5_500, 7_500);
    expect(mayExpire(guard, 7_500).kind).toBe("allowed");
  });

  it("an outage after a prompt append has its own pause, and so has a drop within a slow spell", () => {
    let guard = acked(newExpiryGuard(), 0, 2_000);
    guard = acked(guard, 8_000, 8_010);
    guard = acked(guard, 9_000, 10_500);
    expect(mayExpire(guard, 10_500)).toMatchObject({ kind: "paused", untilMs: 15_500 });
    guard = acked(noteConnectionLost(guard, 14_990), 15_000, 17_000);
    expect(mayExpire(guard, 17_000)).toMatchObject({ kind: "paused", untilMs: 22_000 });
  });
});
