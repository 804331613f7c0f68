import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CollectionPolicy, type CollectionSight, collectionDecision } from "./collection.ts";

const policy: CollectionPolicy = { graceMs: 300_000, holdBackShare: 0.3, holdBackMinimum: 10, settleMs: 60_000 };
const now = 10_000_000;
const sight: CollectionSight = {
  now,
  total: 100,
  expired: [],
  watchingSinceMs: 0,
  storeBackAtMs: undefined,
  mayGoOn: false,
};
const dead = (count: number, forMs: number) =>
  Array.from({ length: count }, (_, place) => ({ id: `i${place}`, sinceMs: now - forMs }));

describe("collection", () => {
  it("has nothing to do when nobody is expired", () => {
    expect(collectionDecision(policy, { ...sight, watchingSinceMs: undefined })).toEqual({
      holdBack: undefined,
      due: [],
      nextMs: undefined,
    });
  });

  it("[97] waits for the grace, then collects the longest dead first", () => {
    const expired = [
      { id: "young", sinceMs: now - 299_000 },
      { id: "due", sinceMs: now - 300_000 },
      { id: "old", sinceMs: now - 400_000 },
    ];
    const decision = collectionDecision(policy, { ...sight, expired });
    expect(decision).toEqual({ holdBack: undefined, due: ["old", "due"], nextMs: 1_000 });
  });

  it.each([
    ["so few that they are never too many", 9, 20, undefined],
    ["exactly the share", 30, 100, undefined],
    ["more than the share", 31, 100, "tooManyDead"],
    ["all", 10, 10, "tooManyDead"],
  ])("holds back by the share: %s", (_, count, total, holdBack) => {
    const decision = collectionDecision(policy, { ...sight, total, expired: dead(count, 300_000) });
    expect(decision.holdBack).toBe(holdBack);
    expect(decision.due).toHaveLength(holdBack === undefined ? count : 0);
  });

  it("counts those in grace too: they are dead at once", () => {
    const expired = [...dead(16, 300_000), ...dead(16, 0)];
    expect(collectionDecision(policy, { ...sight, expired }).holdBack).toBe("tooManyDead");
  });

  it("goes on at an operator's word, but never before the store has settled", () => {
    const expired = dead(50, 300_000);
    expect(collectionDecision(policy, { ...sight, expired, mayGoOn: true }).due).toHaveLength(50);
    const recovered = { ...sight, expired, mayGoOn: true, storeBackAtMs: now - 59_999 };
    expect(collectionDecision(policy, recovered)).toMatchObject({ holdBack: "storeRecovered", due: [], nextMs: 1 });
  });

  it.each([
    ["does not follow the log", undefined, undefined, "justStarted"],
    ["has just begun to watch", now - 59_999, undefined, "justStarted"],
    ["has seen the store come back", 0, now - 59_999, "storeRecovered"],
    ["has watched for long enough", now - 60_000, now - 60_000, undefined],
  ])("holds back or not when the collector %s", (_, watchingSinceMs, storeBackAtMs, holdBack) => {
    const seen = { ...sight, expired: dead(1, 300_000), watchingSinceMs, storeBackAtMs };
    expect(collectionDecision(policy, seen).holdBack).toBe(holdBack);
  });

  it("never collects anyone within the grace, and nobody while it holds back", () => {
    const anyDead = fc.array(fc.record({ id: fc.uuid(), sinceMs: fc.integer({ min: 0, max: now }) }));
    const instant = fc.option(fc.integer({ min: 0, max: now }), { nil: undefined });
    fc.assert(
      fc.property(
        anyDead,
        fc.nat({ max: 500 }),
        instant,
        instant,
        fc.boolean(),
        (expired, more, watching, back, word) => {
          const seen = { now, expired, total: expired.length + more, watchingSinceMs: watching, mayGoOn: word };
          const { due, holdBack } = collectionDecision(policy, { ...seen, storeBackAtMs: back });
          if (holdBack !== undefined) expect(due).toEqual([]);
          const sinceOf = new Map(expired.map(({ id, sinceMs }) => [id, sinceMs]));
          for (const id of due) expect(now - (sinceOf.get(id) ?? now)).toBeGreaterThanOrEqual(policy.graceMs);
        },
      ),
    );
  });
});
