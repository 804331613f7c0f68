import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Cursors } from "./cursors.ts";

/** A log of several partitions: each message names the one before it in its partition. */
function chain(partitions: readonly number[]): { partition: number; sequence: bigint; prev: bigint }[] {
  const last = new Map<number, bigint>();
  return partitions.map((partition, index) => {
    const sequence = BigInt(index + 1);
    const prev = last.get(partition) ?? 0n;
    last.set(partition, sequence);
    return { partition, sequence, prev };
  });
}

describe("Cursors", () => {
  it("tell each message once and in order, however often reading begins again", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 }),
        fc.array(fc.nat({ max: 12 }), { maxLength: 10 }),
        (partitions, stops) => {
          const log = chain(partitions);
          const cursors = new Cursors(new Map([0, 1, 2].map((partition) => [partition, 0n])));
          const told: bigint[] = [];
          for (const stop of [...stops, log.length]) {
            const rest = log.filter(({ sequence }) => sequence > cursors.position);
            for (const { partition, sequence, prev } of rest.slice(0, stop)) {
              const verdict = cursors.judge(partition, sequence, prev);
              expect(verdict).toBe(partition === 3 ? "ignored" : "tell");
              if (verdict === "tell") told.push(sequence);
            }
          }
          expect(told).toEqual(log.flatMap(({ partition, sequence }) => (partition < 3 ? [sequence] : [])));
        },
      ),
    );
  });

  it("go back for a partition that is resumed, and tell nothing of the others twice", () => {
    const log = chain([0, 1, 0, 1, 0]);
    const cursors = new Cursors(new Map([[1, 0n]]));
    for (const { partition, sequence, prev } of log) cursors.judge(partition, sequence, prev);
    cursors.resume(0, 1n);
    expect(cursors.position).toBe(1n);
    const verdicts = log.slice(1).map(({ partition, sequence, prev }) => cursors.judge(partition, sequence, prev));
    expect(verdicts).toEqual(["duplicate", "tell", "duplicate", "tell"]);
  });

  it("park a partition whose next message is missing until it is resumed", () => {
    const cursors = new Cursors(new Map([[0, 5n]]));
    expect(cursors.judge(0, 9n, 8n)).toBe("gap");
    expect(cursors.told(0)).toBeUndefined();
    expect(cursors.judge(0, 10n, 9n)).toBe("ignored");
    expect(cursors.caughtUp()).toEqual([]);
    cursors.resume(0, 9n);
    expect(cursors.judge(0, 10n, 9n)).toBe("tell");
    expect(cursors.told(0)).toBe(10n);
  });

  it("tell a message that follows an older one than the last: the reader sees that the log does not chain", () => {
    const cursors = new Cursors(new Map([[0, 5n]]));
    expect(cursors.judge(0, 9n, 4n)).toBe("tell");
  });

  it("tell a message without a condition", () => {
    expect(new Cursors(new Map([[0, 5n]])).judge(0, 9n, undefined)).toBe("tell");
  });

  it("name each partition once when it has caught up, and again after a resume", () => {
    const cursors = new Cursors(new Map([0, 1].map((partition) => [partition, 0n])));
    expect(cursors.caughtUp()).toEqual([0, 1]);
    expect(cursors.caughtUp()).toEqual([]);
    cursors.resume(1, 0n);
    expect(cursors.caughtUp()).toEqual([1]);
  });
});
