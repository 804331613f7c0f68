import { describe, expect, it } from "vitest";
import { FakeClock } from "./fake-clock.ts";

describe("FakeClock", () => {
  it("fires timers in order of their due time, then of their creation", async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    clock.schedule(20, () => fired.push(`b@${clock.now()}`));
    clock.schedule(10, () => fired.push(`a@${clock.now()}`));
    clock.schedule(20, () => fired.push(`c@${clock.now()}`));
    await clock.advance(20);
    expect(fired).toEqual(["a@10", "b@20", "c@20"]);
  });

  it("fires a timer at its due time and not one millisecond before", async () => {
    const clock = new FakeClock();
    let fired = false;
    clock.schedule(10, () => {
      fired = true;
    });
    await clock.advance(9);
    expect(fired).toBe(false);
    await clock.advance(1);
    expect(fired).toBe(true);
  });

  it("fires timers that a timer has scheduled, when they fall inside the same advance", async () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    clock.schedule(5, () => clock.schedule(5, () => fired.push(clock.now())));
    await clock.advance(10);
    expect(fired).toEqual([10]);
  });

  it("never fires a cancelled timer and forgets it", async () => {
    const clock = new FakeClock();
    const timer = clock.schedule(1, () => expect.unreachable());
    timer.cancel();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10);
  });

  it("moves the wall clock with time, and alone when it jumps", async () => {
    const clock = new FakeClock({ wallMs: 1000 });
    await clock.advance(5);
    expect(clock.wall()).toBe(1005);
    clock.jumpWall(-500);
    expect([clock.wall(), clock.now()]).toEqual([505, 5]);
  });

  it("rejects a sleep at once when its signal is aborted, and leaves no timer", async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const sleeping = clock.sleep(1000, abort.signal);
    abort.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
    expect(clock.pendingTimers).toBe(0);
    await expect(clock.sleep(1, abort.signal)).rejects.toThrow("enough");
  });
});
