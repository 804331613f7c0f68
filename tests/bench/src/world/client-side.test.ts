import { expect, it } from "vitest";
import { costFigures } from "./client-side.ts";

it("costs are CPU seconds per 1,000 operations and bytes, of client and servers apart, of one name together", () => {
  const cost = (name: string, cpuMs: number) => ({ name, cpuMs, memoryBytes: 100 });
  const before = [cost("client", 10), cost("etcd", 0), cost("etcd", 5)];
  const after = [cost("client", 20), cost("etcd", 20), cost("etcd", 25)];
  expect(costFigures(before, after, 1_000)).toEqual({
    "cpu client": 0.01,
    "cpu etcd": 0.04,
    "cpu servers": 0.04,
    "memory client": 100,
    "memory etcd": 200,
  });
});
