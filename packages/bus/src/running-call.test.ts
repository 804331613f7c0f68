import { FakeClock } from "@tenure/kernel";
import { describe, expect, test } from "vitest";
import { cancelled } from "./faults.ts";
import { RunningCall } from "./running-call.ts";

function running(clock: FakeClock, deadlineMs: number): RunningCall {
  return new RunningCall("Echo.Say", { principal: "anonymous" }, deadlineMs, clock);
}

describe("RunningCall", () => {
  test("counts down on its own clock and never below zero", async () => {
    const clock = new FakeClock();
    const call = running(clock, 100);
    expect(call.remainingMs()).toBe(100);
    await clock.advance(70);
    expect(call.remainingMs()).toBe(30);
    await clock.advance(70);
    expect(call.remainingMs()).toBe(0);
    expect(running(clock, Number.POSITIVE_INFINITY).remainingMs()).toBe(Number.POSITIVE_INFINITY);
  });

  test("aborts the signal at the deadline, counted from the arrival", async () => {
    const clock = new FakeClock();
    const call = running(clock, 100);
    await clock.advance(40);
    const { signal } = call;
    await clock.advance(59);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toMatchObject({ code: "DEADLINE_EXCEEDED", details: { applied: "UNKNOWN" } });
  });

  test("a signal that is asked for after the abort is aborted already", () => {
    const call = running(new FakeClock(), 100);
    call.abort(cancelled("Echo.Say", "UNKNOWN"));
    expect(call.signal.aborted).toBe(true);
    expect(call.abortedWith?.code).toBe("CANCELLED");
  });

  test("keeps the first reason and no timer after its end", () => {
    const clock = new FakeClock();
    const call = running(clock, 100);
    expect(clock.pendingTimers).toBe(0);
    expect(call.signal.aborted).toBe(false);
    expect(clock.pendingTimers).toBe(1);
    call.finish();
    call.abort(cancelled("Echo.Say", "UNKNOWN"));
    expect(call.signal.aborted).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });
});
