import { describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";

describe("systemClock", () => {
  it("never goes back", () => {
    const first = systemClock.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(first);
  });

  it("does not fire a timer beyond the longest delay of the platform at once", async () => {
    let fired = false;
    const timer = systemClock.schedule(2 ** 40, () => {
      fired = true;
    });
    await systemClock.sleep(1);
    timer.cancel();
    expect(fired).toBe(false);
  });
});
