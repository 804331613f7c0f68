import { describe, expect, it } from "vitest";
import { readArguments } from "./arguments.ts";
import { hunt } from "./mutation/hunt.ts";
import { lengths, profiles, restless } from "./profile.ts";
import { describeFailure, describeTally, sum } from "./report.ts";
import { run, scheduleOf } from "./run.ts";
import { keep, shrink } from "./shrink.ts";
import { simulate } from "./simulate.ts";

/** Bounded for every run of the tests; `npm run simulate` takes as many as it is given. */
const seeds = 60;
/** Of a world with one partition and two replicas, which is cheaper. */
const restlessSeed = 8;

describe("the simulator", () => {
  it(`finds no violation in ${seeds} seeds, and was not idle`, async () => {
    const lines: string[] = [];
    const tally = await simulate({ seeds, from: 1, keep: undefined }, (line) => lines.push(line));
    expect(lines).toEqual([]);
    expect(describeTally(tally)).toMatch(/^60 seeds, \d+ steps, \d+ faults injected, 0 violations/);
    expect(tally.terms).toBeGreaterThan(seeds);
    expect(tally.acknowledged).toBeGreaterThan(10 * seeds);
    expect(tally.faults).toBeGreaterThan(10 * seeds);
    expect(tally.watched).toBeGreaterThan(10 * seeds);
    const kinds = new Set(Array.from({ length: seeds }, (_, index) => scheduleOf(index + 1).profile.name));
    expect(kinds).toEqual(new Set(Object.keys(profiles)));
  }, 300_000);

  // Seeds that once failed: readings behind what was told, and messages dropped at a takeover.
  it.each([131, 188, 360, 431, 479, 664, 10_566])(
    "finds no violation in seed %d, where there was one",
    async (seed) => {
      expect((await run(scheduleOf(seed, profiles.plain))).violation).toBeUndefined();
    },
  );

  // An owner that answered after its partition had halted, and one that had not been told its own append before it was lost.
  it.each([339, 378, 494])(
    "finds no violation in seed %d of a log that loses its end, where there was one",
    async (seed) => {
      expect((await run(scheduleOf(seed, profiles.losses))).violation).toBeUndefined();
    },
  );

  it("finds no violation where holders ask for longer and shorter terms", async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      expect((await run(scheduleOf(seed, lengths))).violation, `seed ${seed}`).toBeUndefined();
    }
  }, 300_000);

  it("finds no violation where an owner took in its first answer when its connection had just dropped", async () => {
    expect((await run(scheduleOf(71_108, profiles.watches))).violation).toBeUndefined();
  });

  // What was wrong had begun before everything healed and went on, so that waits were judged too early.
  it.each([5_752, 952_365, 952_431, 954_758])(
    "finds no violation in seed %d, whose last fault lasts long",
    async (seed) => {
      expect((await run(scheduleOf(seed))).violation).toBeUndefined();
    },
  );

  it("finds no violation where a coordinator lost its shard for a moment, and with it what it had yet to look at", async () => {
    expect((await run(scheduleOf(3_002_533))).violation).toBeUndefined();
  });

  it("a thousand changes of strategies, priorities and versions move the leader no oftener, and end in a stable one", async () => {
    const { elections, violation } = await run(scheduleOf(restlessSeed, restless));
    expect(violation).toBeUndefined();
    expect(elections.changes).toBeGreaterThanOrEqual(1_000);
    expect(elections.transitions).toBeGreaterThan(30);
    expect(elections.transitions).toBeLessThanOrEqual(elections.changes);
  }, 300_000);

  it("does the same again for the same seed", async () => {
    const first = await run(scheduleOf(7));
    const second = await run(scheduleOf(7));
    expect(second).toEqual(first);
    expect(second.steps).not.toBe((await run(scheduleOf(8))).steps);
  });

  it("prints the least schedule that fails and how to see it again", async () => {
    const parts = { flaws: { actsAfterRelease: true } };
    const failed = await hunt(parts, 20, ["I4"]);
    expect(failed).toBeDefined();
    if (failed === undefined) return;
    const shrunk = await shrink(failed, parts);
    const { seed } = failed.schedule;
    expect(shrunk.kept.length).toBeLessThanOrEqual(failed.schedule.incidents.length);
    const text = describeFailure(shrunk);
    expect(text).toContain(`seed ${seed} breaks I4`);
    expect(text).toContain(`npm run simulate -- --from ${seed} --seeds 1 --keep ${shrunk.kept.join(",") || "none"}`);
    const schedule = { ...scheduleOf(seed), incidents: keep(scheduleOf(seed).incidents, shrunk.kept) };
    expect((await run(schedule, parts)).violation).toEqual(shrunk.result.violation);
  });

  it("adds up what its threads did", () => {
    const tally = { seeds: 1, steps: 20, faults: 3, terms: 4, acknowledged: 5, watched: 6, violations: 0 };
    expect(describeTally(sum([tally, tally]))).toBe(
      "2 seeds, 40 steps, 6 faults injected, 0 violations (8 terms, 10 acknowledged changes, 12 watched)",
    );
  });

  it("reads its arguments and refuses others", () => {
    const given = readArguments(["--seeds", "5", "--from", "9", "--keep", "0,3", "--jobs", "8"]);
    expect(given).toEqual({ seeds: 5, from: 9, keep: [0, 3], jobs: 5 });
    expect(readArguments(["--keep", "none", "--jobs", "2"])).toEqual({ seeds: 100, from: 1, keep: [], jobs: 2 });
    expect(() => readArguments(["--seeds", "many"])).toThrow("--seeds must be a whole number from 1 on");
    expect(() => readArguments(["--sed", "5"])).toThrow("--sed");
  });
});
