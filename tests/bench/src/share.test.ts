import { describe, expect, it } from "vitest";
import type { Limit } from "./benchmark.ts";
import { guarded } from "./rows/guarded.ts";
import { handOverToOne } from "./rows/hand-over.ts";
import { benchmarksNamed } from "./rows/index.ts";
import { limits } from "./rows/limits.ts";
import { sharesOf } from "./share.ts";

const measured = [
  {
    "raw-log (64 in flight)": { rate: 40_000, p50Ms: 1.5 },
    "raw-log (1 in flight)": { rate: 1_000, p50Ms: 0.75 },
    "raw-grpc-stream (1 in flight)": { rate: 5_000, p50Ms: 0.25 },
  },
];
const figures = { rate: 10_000, p50Ms: 4 };

describe("the share of a limit", () => {
  it("is the rate against the limit's where much is in flight, and the limits' time together against its own where little is", () => {
    const round = Object.fromEntries(guarded.sides.map(({ name }) => [name, figures]));
    expect(sharesOf(guarded.sides, [round, round], measured)).toEqual({
      "tenure-grpc": 0.25,
      "tenure-nats": 0.25,
      "tenure-grpc (1 in flight)": 0.25,
    });
  });

  it("counts the gateway's round trip only where there is a gateway", () => {
    const rounds = [{ "tenure-grpc": figures, "tenure-nats": figures }];
    expect(sharesOf(handOverToOne.sides, rounds, measured)).toEqual({
      "tenure-grpc": 0.25,
      "tenure-nats": 0.1875,
    });
  });

  it("is of the medians over the rounds", () => {
    const limit: Limit = { figure: "rate", sides: ["most"] };
    const sides = [{ name: "own", limit, start: () => Promise.reject(new Error("not started")) }];
    const rounds = [{ own: { rate: 1 } }, { own: { rate: 2 } }, { own: { rate: 9 } }];
    expect(sharesOf(sides, rounds, [{ most: { rate: 4 } }, {}])).toEqual({ own: 0.5 });
  });

  it("is not there without limits in the run, nor for a side that was not measured", () => {
    const round = { "tenure-grpc": figures };
    expect(sharesOf(guarded.sides, [round], [])).toEqual({});
    expect(sharesOf(guarded.sides, [round], measured)).toEqual({ "tenure-grpc": 0.25 });
  });

  it("is of sides that are measured first", () => {
    const sides = limits.sides.map(({ name }) => name);
    const all = benchmarksNamed([]);
    expect(all[0]).toBe(limits);
    for (const { limit } of all.flatMap((benchmark) => benchmark.sides)) {
      for (const side of limit?.sides ?? []) expect(sides).toContain(side);
    }
  });
});
