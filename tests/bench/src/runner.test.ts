import { describe, expect, it } from "vitest";
import { type Benchmark, type Side, warmUpTurns } from "./benchmark.ts";
import { brokenDown, reaches, resultOf, runBenchmark } from "./runner.ts";
import { MissingPeer } from "./world/system.ts";
import { Systems } from "./world/systems.ts";

const options = { isQuick: true, leases: undefined, nodeOptions: [], systems: new Systems(() => {}), tell: () => {} };

function recorded(order: string[], name: string): Side {
  return {
    async measure(round) {
      order.push(`${name}${round}`);
      return { cost: name === "new" ? 2 + round : 1 };
    },
    async [Symbol.asyncDispose]() {
      order.push(`${name} ended`);
    },
  };
}

function twoSides(order: string[]): Benchmark {
  return {
    name: "two",
    summary: "two sides",
    settings: () => ["none"],
    sides: ["old", "new"].map((name) => ({ name, start: async () => recorded(order, name) })),
    rows: [
      {
        name: "ratio",
        measures: "new against old",
        unit: "x",
        read: ({ new: fresh, old }) => (fresh?.cost ?? 0) / (old?.cost ?? 0),
        target: { atMost: 2.5 },
      },
    ],
  };
}

describe("a benchmark's run", () => {
  it("measures its sides in turns, each first in every other round, and ends them", async () => {
    const order: string[] = [];
    const result = await runBenchmark(twoSides(order), 3, options);
    expect(order).toEqual(["old0", "new0", "new1", "old1", "old2", "new2", "new ended", "old ended"]);
    expect(result.rows).toMatchObject([{ median: 3, least: 2, greatest: 4, isReached: false }]);
    expect(result.rounds).toHaveLength(3);
  });

  it("warms them up in turns before the first round", async () => {
    const order: string[] = [];
    const benchmark = twoSides(order);
    const warmed = benchmark.sides.map(({ name }) => ({
      name,
      start: async () => ({
        ...recorded(order, name),
        async warmUp() {
          order.push(name);
        },
      }),
    }));
    await runBenchmark({ ...benchmark, sides: warmed }, 1, options);
    const turns = Array.from({ length: warmUpTurns }, () => ["old", "new"]).flat();
    expect(order).toEqual([...turns, "old0", "new0", "new ended", "old ended"]);
  });

  it("ends the sides that were started when another one does not start", async () => {
    const order: string[] = [];
    const benchmark = twoSides(order);
    const failing = { name: "none", start: () => Promise.reject(new Error("no such server")) };
    await expect(runBenchmark({ ...benchmark, sides: [...benchmark.sides, failing] }, 1, options)).rejects.toThrow(
      "no such server",
    );
    expect(order).toEqual(["new ended", "old ended"]);
  });

  it("has the rows of one that broke down missed, with the reason", () => {
    const result = brokenDown(twoSides([]), options, new Error("no such server"));
    expect(result).toMatchObject({ name: "two", missing: ["no such server"], rounds: [] });
    expect(result.rows).toMatchObject([{ name: "ratio", isReached: false }]);
  });

  it("goes on without a peer that cannot be had, and names it", async () => {
    const benchmark = twoSides([]);
    const missing = { name: "peer", start: () => Promise.reject(new MissingPeer("peer: not packaged")) };
    const result = await runBenchmark({ ...benchmark, sides: [...benchmark.sides, missing] }, 1, options);
    expect(result.missing).toEqual(["peer: not packaged"]);
    expect(Object.keys(result.rounds[0] ?? {})).toEqual(["old", "new"]);
  });

  it("takes no more rounds than the benchmark allows", async () => {
    const result = await runBenchmark({ ...twoSides([]), mostRounds: 1 }, 5, options);
    expect(result.rounds).toHaveLength(1);
  });
});

describe("a row", () => {
  it("leaves out rounds without a number, and has not reached its target without any", () => {
    const row = { name: "a", measures: "a", unit: "ms", read: () => undefined, target: { atMost: 1 } } as const;
    expect(resultOf("x", row, [{}, {}])).toMatchObject({ isReached: false });
  });

  it.each([
    [1.3, { atMost: 1.3 }, true],
    [1.31, { atMost: 1.3 }, false],
    [3, { atLeast: 3 }, true],
    [2.9, { atLeast: 3 }, false],
    [Number.NaN, { atLeast: 3 }, false],
    [Number.NaN, { atMost: 3 }, false],
  ])("of %d with the target %o: reached %s", (value, target, isReached) => {
    expect(reaches(value, target)).toBe(isReached);
  });
});
