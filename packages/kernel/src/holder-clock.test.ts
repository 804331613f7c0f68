import { describe, expect, it } from "vitest";
import { HolderClock, systemReadings } from "./holder-clock.ts";

/** A machine whose clocks a test moves. */
class Machine {
  monotonic = 1_000;
  boot = 500_000;
  wall = 1_700_000_000_000;
  bootReads = 0;
  readonly readings = {
    monotonicMs: () => this.monotonic,
    bootMs: () => {
      this.bootReads += 1;
      return Math.floor(this.boot / 10) * 10;
    },
    wallMs: () => this.wall,
  };

  run(ms: number): void {
    this.monotonic += ms;
    this.suspend(ms);
  }

  suspend(ms: number): void {
    this.boot += ms;
    this.wall += ms;
  }
}

describe("the holder's clock", () => {
  it("runs with the monotonic clock while the machine is awake", () => {
    const machine = new Machine();
    const clock = new HolderClock(undefined, machine.readings);
    const startMs = clock.now();
    for (let step = 0; step < 1_000; step += 1) {
      machine.run(7.3);
      clock.now();
    }
    expect(clock.now() - startMs).toBeCloseTo(7_300, 6);
  });

  it("counts a suspend at the first look after it, never short", () => {
    for (const sleptMs of [50, 123, 1_000, 3_600_000]) {
      const machine = new Machine();
      const clock = new HolderClock(undefined, machine.readings);
      machine.run(12);
      const beforeMs = clock.now();
      machine.suspend(sleptMs);
      const passedMs = clock.now() - beforeMs;
      expect(passedMs).toBeGreaterThanOrEqual(sleptMs);
      expect(passedMs).toBeLessThan(sleptMs + 60);
    }
  });

  it("counts a suspend within 100 ms even if the wall clock was set back by as much", () => {
    const machine = new Machine();
    const clock = new HolderClock(undefined, machine.readings);
    const beforeMs = clock.now();
    machine.suspend(60_000);
    machine.wall -= 60_000;
    machine.run(101);
    expect(clock.now() - beforeMs).toBeGreaterThanOrEqual(60_101);
  });

  it("is not moved by the wall clock", () => {
    const machine = new Machine();
    const clock = new HolderClock(undefined, machine.readings);
    const beforeMs = clock.now();
    for (const jumpMs of [3_600_000, -7_200_000, 40]) {
      machine.wall += jumpMs;
      expect(clock.now()).toBe(beforeMs);
    }
    expect(clock.wall()).toBe(machine.wall);
  });

  it("never goes back, and counts several suspends once each", () => {
    const machine = new Machine();
    const clock = new HolderClock(undefined, machine.readings);
    const startMs = clock.now();
    let lastMs = startMs;
    for (let round = 0; round < 50; round += 1) {
      machine.run(30);
      machine.suspend(500);
      const nowMs = clock.now();
      expect(nowMs).toBeGreaterThan(lastMs);
      lastMs = nowMs;
    }
    expect(lastMs - startMs).toBeGreaterThanOrEqual(50 * 530);
    expect(lastMs - startMs).toBeLessThan(50 * 530 + 60);
  });

  it("shows the same instants in every thread that has its memory", () => {
    const machine = new Machine();
    const main = new HolderClock(undefined, machine.readings);
    const worker = new HolderClock(main.shared, machine.readings);
    machine.run(10);
    expect(worker.now()).toBe(main.now());
    machine.suspend(5_000);
    const seenByMainMs = main.now();
    expect(worker.now()).toBe(seenByMainMs);
  });

  it("reads the costly clock only now and then", () => {
    const machine = new Machine();
    const clock = new HolderClock(undefined, machine.readings);
    machine.bootReads = 0;
    for (let step = 0; step < 10_000; step += 1) {
      machine.run(0.1);
      clock.now();
    }
    expect(machine.bootReads).toBeLessThan(15);
  });

  it("works with the machine's own clocks and timers", async () => {
    const clock = new HolderClock();
    const beforeMs = clock.now();
    await clock.sleep(5);
    expect(clock.now()).toBeGreaterThanOrEqual(beforeMs + 4);
    expect(systemReadings.bootMs()).toBeGreaterThan(0);
  });
});
