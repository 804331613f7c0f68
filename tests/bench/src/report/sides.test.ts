import { describe, expect, it } from "vitest";
import { byProcess, serverMemory, summarizeSides } from "./sides.ts";

const rounds = [
  {
    tenure: { rate: 10, "cpu client": 1, "cpu servers": 3, "memory gateway": 5, "memory client": 7 },
    etcd: { rate: 1 },
  },
  { tenure: { rate: 20, "cpu client": 3, "cpu servers": 5, "memory gateway": 5, "memory client": 7 } },
  {
    tenure: { rate: 90, "cpu client": 2, "cpu servers": 4, "memory gateway": 5, "memory client": 7 },
    etcd: { rate: 3 },
  },
];

describe("the sides of a benchmark", () => {
  it("have the median of each figure over the rounds in which they were measured, and the spread of their rates", () => {
    const [tenure, etcd] = summarizeSides({ rounds });
    expect(tenure).toMatchObject({
      name: "tenure",
      medians: { rate: 20, "cpu client": 2 },
      rates: { least: 10, greatest: 90 },
    });
    expect(etcd).toEqual({ name: "etcd", medians: { rate: 2 }, rates: { least: 1, greatest: 3 } });
  });

  it("have costs by process, and the memory of all servers without their client's", () => {
    const [tenure] = summarizeSides({ rounds });
    expect(byProcess(tenure?.medians ?? {}, "cpu")).toEqual([["client", 2]]);
    expect(serverMemory(tenure?.medians ?? {})).toBe(5);
  });
});
