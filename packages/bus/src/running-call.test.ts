import { type Dated, Deadlines, FakeClock } from "@tenure/kernel";
import { describe, expect, test } from "vitest";
import { cancelled } from "./faults.ts";
import { RunningCall } from "./running-call.ts";

function running(clock: FakeClock, deadlineMs: number, deadlines = new Deadlines<Dated>(clock)): RunningCall {
  return new RunningCall("Echo.Say", { principal: "anonymous" }, deadlineMs, { clock, deadlines });
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

  test("keeps the first reason and no deadline after its end", () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines<Dated>(clock);
    const call = running(clock, 100, deadlines);
    expect(deadlines.size).toBe(0);
    expect(call.signal.aborted).toBe(false);
    expect(deadlines.size).toBe(1);
    call.finish();
    call.abort(cancelled("Echo.Say", "UNKNOWN"));
    expect(call.signal.aborted).toBe(false);
    expect(deadlines.size).toBe(0);
  });

  test("tells one listener of the abort, once, without a signal", async () => {
    const clock = new FakeClock();
    const call = running(clock, 100);
    const told: string[] = [];
    call.onAbort(() => told.push("replaced"));
    call.onAbort(({ code }) => told.push(code));
    await clock.advance(99);
    expect(told).toEqual([]);
    await clock.advance(1);
    call.abort(cancelled("Echo.Say", "UNKNOWN"));
    expect(told).toEqual(["DEADLINE_EXCEEDED"]);
    expect(call.signal.reason).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    call.onAbort(({ code }) => told.push(`late ${code}`));
    expect(told).toEqual(["DEADLINE_EXCEEDED", "late DEADLINE_EXCEEDED"]);
  });

  test("a listener that was withdrawn, or whose handler is done, is told nothing", async () => {
    const clock = new FakeClock();
    const told: string[] = [];
    const [withdrawn, done] = [running(clock, 100), running(clock, 100)];
    for (const call of [withdrawn, done]) call.onAbort(({ code }) => told.push(code));
    withdrawn.onAbort(undefined);
    done.finish();
    await clock.advance(1_000);
    expect(withdrawn.abortedWith?.code).toBe("DEADLINE_EXCEEDED");
    expect(told).toEqual([]);
  });
});
