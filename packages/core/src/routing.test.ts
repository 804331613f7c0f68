import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hash32 } from "./hash.ts";
import { partitionOf, partitionOfBytes, routingPart } from "./routing.ts";

describe("routing", () => {
  // Frozen: these decide where existing records live.
  it.each([
    ["", 2872998923],
    ["a", 444641715],
    ["billing/scheduler", 2217145856],
    ["kube-system/leader-election-controller", 2831428370],
    ["münchen/ß", 575531451],
  ])("hashes %j to the frozen value", (text, hash) => {
    expect(hash32(text)).toBe(hash);
  });

  it.each([
    ["billing/scheduler", 0],
    ["billing/acct:1", 6],
    ["kube-system/leader-election-controller", 2],
    ["default/lock-17", 5],
  ])("puts %s into its frozen partition of 8", (key, partition) => {
    expect(partitionOf(key, 8)).toBe(partition);
  });

  it("finds the partition of a key in its bytes, wherever they stand", () => {
    const part = fc.stringMatching(/^[a-z0-9-]{1,12}$/);
    fc.assert(
      fc.property(part, fc.array(part, { minLength: 1, maxLength: 3 }), part, (namespace, parts, other) => {
        const name = parts.join(":");
        const bytes = new TextEncoder().encode(`${other}${name}${other}${namespace}:${other}`);
        const nameSpan = { start: other.length, end: other.length + name.length };
        const start = nameSpan.end + other.length;
        const found = partitionOfBytes(bytes, { start, end: start + namespace.length }, nameSpan, 1_000);
        expect(found).toBe(partitionOf(`${namespace}/${name}`, 1_000));
      }),
    );
  });

  it.each([
    ["billing/acct:1", "billing/acct"],
    ["billing/acct:1:2", "billing/acct"],
    ["billing/acct", "billing/acct"],
  ])("routes %s by %s", (key, part) => {
    expect(routingPart(key)).toBe(part);
  });

  it("gives leases with one routing part one partition", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9]{1,12}$/),
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 64 }),
        (name, a, b, n) => {
          expect(partitionOf(`ns/${name}:${a}`, n)).toBe(partitionOf(`ns/${name}:${b}`, n));
          expect(partitionOf(`ns/${name}`, n)).toBe(partitionOf(`ns/${name}:${b}`, n));
        },
      ),
    );
  });

  it("spreads keys evenly over 8 partitions", () => {
    const counts = new Array<number>(8).fill(0);
    for (let index = 0; index < 80_000; index++) {
      const partition = partitionOf(`ns/lease-${index}`, 8);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(9_500);
    expect(Math.max(...counts)).toBeLessThan(10_500);
  });
});
