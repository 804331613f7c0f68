import { describe, expect, it } from "vitest";
import { SimulatedProcess } from "./simulated-process.ts";
import { VirtualTime } from "./virtual-time.ts";

async function runUntil(time: VirtualTime, untilMs: number): Promise<void> {
  while (await time.step(untilMs));
}

describe("a simulated process", () => {
  it("has a clock of its own rate, and its timers fire when it shows their time", async () => {
    const time = new VirtualTime();
    const process = new SimulatedProcess(time, { name: "slow", rate: 0.9 }, 1_000);
    const fired: number[] = [];
    process.schedule(90, () => fired.push(time.nowMs));
    await runUntil(time, 200);
    expect(process.now()).toBeCloseTo(1_180);
    expect(fired).toEqual([expect.closeTo(100)]);
    expect(process.trueTimeOf(1_090)).toBeCloseTo(100);
  });

  it("does nothing while it is paused, and everything in order when it goes on", async () => {
    const time = new VirtualTime();
    const process = new SimulatedProcess(time, { name: "paused", rate: 1 }, 0);
    const done: string[] = [];
    process.schedule(10, () => done.push(`timer at ${process.now()}`));
    process.pause(50);
    time.after(20, () => process.deliver(() => done.push("message")));
    await runUntil(time, 49);
    expect(done).toEqual([]);
    await runUntil(time, 100);
    expect(done).toEqual(["timer at 50", "message"]);
  });

  it("stops its monotonic clock while it is suspended, but not its boot clock", async () => {
    const time = new VirtualTime();
    const process = new SimulatedProcess(time, { name: "suspended", rate: 1.1 }, 0);
    const fired: number[] = [];
    process.schedule(110, () => fired.push(time.nowMs));
    process.suspend(1_000);
    await runUntil(time, 2_000);
    expect(fired).toEqual([expect.closeTo(1_100)]);
    expect(process.boot()).toBeCloseTo(2_200);
    expect(process.now()).toBeCloseTo(1_100);
  });

  it("never runs again once it is killed", async () => {
    const time = new VirtualTime();
    const process = new SimulatedProcess(time, { name: "dead", rate: 1 }, 0);
    const done: string[] = [];
    process.schedule(10, () => done.push("timer"));
    process.kill();
    process.deliver(() => done.push("message"));
    await runUntil(time, 100);
    expect(done).toEqual([]);
  });
});

describe("virtual time", () => {
  it("has things happen by their time, then in the order in which they were asked for", async () => {
    const time = new VirtualTime();
    const done: number[] = [];
    for (const [index, delayMs] of [30, 10, 20, 10, 0, 30, 20].entries()) time.after(delayMs, () => done.push(index));
    time.after(15, () => done.push(-1)).cancel();
    await runUntil(time, 100);
    expect(done).toEqual([4, 1, 3, 2, 6, 0, 5]);
    expect(time.steps).toBe(7);
    expect(time.nowMs).toBe(100);
  });
});
