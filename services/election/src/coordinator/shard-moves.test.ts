import { describe, expect, it } from "vitest";
import { shardLease, shardMoves, shardOf } from "./shard-moves.ts";

const free = (...shards: number[]) => new Map(shards.map((shard) => [shard, 0]));

describe("shards", () => {
  it("have leases of one routing part in the system namespace", () => {
    expect(shardLease(3)).toBe("tenure-system/election:3");
  });

  it("divide leases about evenly", () => {
    const counts = new Array<number>(16).fill(0);
    for (let number = 0; number < 16_000; number += 1) {
      const shard = shardOf(`billing/lease-${number}`, 16);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1_150);
  });
});

describe("shardMoves", () => {
  it("takes all when it is alone", () => {
    const view = { self: "a", peers: ["a"], holders: ["", "", "", ""], freeForMs: free(0, 1, 2, 3) };
    expect(shardMoves(view).take.toSorted()).toEqual([0, 1, 2, 3]);
  });

  it("takes its share of what is free, and no more", () => {
    const view = { self: "a", peers: ["a", "b"], holders: ["", "", "", ""], freeForMs: free(0, 1, 2, 3) };
    expect(shardMoves(view).take).toHaveLength(2);
    expect(shardMoves({ ...view, holders: ["a", "a", "", ""], freeForMs: free(2, 3) }).take).toEqual([]);
  });

  it("takes what nobody else takes, whatever it has", () => {
    const holders = ["a", "a", "", "b"];
    const freeForMs = new Map([[2, 2_000]]);
    expect(shardMoves({ self: "a", peers: ["a", "b"], holders, freeForMs }).take).toEqual([2]);
  });

  it("gives its surplus to one that has too few, once nothing is free", () => {
    const view = { self: "a", peers: ["a", "b"], holders: ["a", "a", "a", "a"], freeForMs: free() };
    expect(shardMoves(view)).toEqual({ take: [], give: [2, 3] });
    expect(shardMoves({ ...view, holders: ["a", "a", "a", "b"] }).give).toEqual([2]);
    expect(shardMoves({ ...view, holders: ["a", "a", "b", "b"] }).give).toEqual([]);
    expect(shardMoves({ ...view, peers: ["a"] }).give).toEqual([]);
  });

  it("leaves shards of replicas that it does not hear of alone until they are free", () => {
    const view = { self: "a", peers: ["a"], holders: ["gone", "gone"], freeForMs: free() };
    expect(shardMoves(view)).toEqual({ take: [], give: [] });
  });
});
