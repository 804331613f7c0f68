import { LeaseServiceAcquireResponse } from "@tenure/contracts";
import { checkTiming, defaultTimingPolicy } from "@tenure/core";
import { FakeClock, Fault, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Stewardship, stewardTiming } from "./stewardship.ts";

/** A store that grants and renews as the test says. */
function start() {
  const clock = new FakeClock({ startMs: 1_000 });
  const told: string[] = [];
  const script = { isFree: true, isAway: false, released: 0 };
  const away = () => new Fault({ code: "UNAVAILABLE", reason: "NO_RESPONDER", message: "away" });
  const steward = new Stewardship({
    store: {
      acquire: async () => {
        if (script.isAway) throw away();
        if (!script.isFree) throw new Fault({ code: "FAILED_PRECONDITION", reason: "LEASE_HELD", message: "held" });
        return LeaseServiceAcquireResponse.fromPartial({ grants: [{ hold: { token: 7n } }] });
      },
      renew: async ({ renewals = [] }) => {
        if (script.isAway) throw away();
        return { results: renewals.map(({ sendNumber = 0n }) => ({ sendNumber, failure: undefined })) } as never;
      },
      release: async () => {
        script.released += 1;
        return { released: [true], revision: 1n };
      },
    },
    clock,
    random: seededRandom(1),
    instance: "i",
    principal: "p",
    leaseDurationMs: 15_000,
    onHeld: (token) => told.push(`held ${token}`),
    onLost: () => told.push("lost"),
  });
  return { clock, script, steward, told };
}

async function pass(clock: FakeClock, forMs: number): Promise<void> {
  for (let passed = 0; passed < forMs; passed += 250) await clock.advance(250);
}

describe("the collector's lease", () => {
  it.each([3_000, 4_000, 15_000, 300_000])("has durations that keep every inequality for L of %i ms", (l) => {
    const policy = { ...defaultTimingPolicy, minimumLeaseDurationMs: 100, storeOutageMs: 0 };
    expect(checkTiming(stewardTiming(l), 0, policy)).toEqual([]);
  });

  it("is taken, kept, and given back", async () => {
    const { clock, script, steward, told } = start();
    await pass(clock, 60_000);
    expect(steward.isHeld).toBe(true);
    expect(steward.token).toBe(7n);
    expect(told).toEqual(["held 7"]);
    await steward[Symbol.asyncDispose]();
    expect(told).toEqual(["held 7", "lost"]);
    expect(script.released).toBe(1);
    expect(steward.isHeld).toBe(false);
  });

  it("is lost by its own clock when the store is away, and taken again", async () => {
    const { clock, script, steward, told } = start();
    await pass(clock, 5_000);
    script.isAway = true;
    await pass(clock, 10_000);
    expect(steward.isHeld).toBe(true);
    await pass(clock, 3_000);
    expect(steward.isHeld).toBe(false);
    expect(told).toEqual(["held 7", "lost"]);
    script.isAway = false;
    await pass(clock, 10_000);
    expect(told).toEqual(["held 7", "lost", "held 7"]);
    await steward[Symbol.asyncDispose]();
  });

  it("waits while another has it", async () => {
    const { clock, script, steward, told } = start();
    script.isFree = false;
    await pass(clock, 60_000);
    expect(told.filter((one) => one === "held 7").length).toBeLessThanOrEqual(1);
    script.isFree = true;
    await pass(clock, 10_000);
    expect(steward.isHeld).toBe(true);
    await steward[Symbol.asyncDispose]();
  });
});
