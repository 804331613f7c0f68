import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { desiredOwner, rankReplicas } from "./placement.ts";

const partitions = Array.from({ length: 64 }, (_, partition) => partition);
const instance = fc.stringMatching(/^[a-z0-9-]{1,12}$/);
const instances = fc.uniqueArray(instance, { minLength: 1, maxLength: 8 });

describe("rendezvous placement", () => {
  it("is the same for everyone who knows the same replicas, in whatever order and however often named", () => {
    fc.assert(
      fc.property(instances, fc.infiniteStream(fc.nat()), (known, dice) => {
        const shuffled = [...known, known[0] ?? ""].sort(() => ((dice.next().value ?? 0) % 2) - 0.5);
        for (const partition of partitions) {
          expect(rankReplicas(partition, shuffled)).toEqual(rankReplicas(partition, known));
        }
      }),
    );
  });

  it("moves only the partitions of the replica that goes, to the second in line, and back when it returns", () => {
    fc.assert(
      fc.property(instances, fc.nat(), (known, index) => {
        const gone = known[index % known.length];
        const left = known.filter((name) => name !== gone);
        for (const partition of partitions) {
          const [first, second] = rankReplicas(partition, known);
          expect(desiredOwner(partition, left)).toBe(first === gone ? second : first);
        }
      }),
    );
  });

  it("gives every replica a share that is not far from fair", () => {
    const many = Array.from({ length: 3000 }, (_, partition) => partition);
    const known = ["store-a", "store-b", "store-c"];
    const share = (name: string) => many.filter((partition) => desiredOwner(partition, known) === name).length;
    for (const name of known) {
      expect(share(name)).toBeGreaterThan(850);
      expect(share(name)).toBeLessThan(1150);
    }
  });

  it("knows no owner where there is no replica", () => {
    expect(desiredOwner(0, [])).toBeUndefined();
  });
});
