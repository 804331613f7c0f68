import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { Desk } from "../testing/desk.ts";
import { collisionOf } from "./collision.ts";
import {
  departureOf,
  expiredSinceMs,
  type LifeSight,
  type Liveness,
  lifeSightOf,
  livenessAt,
  untilLivenessChangesMs,
} from "./liveness.ts";
import { annotations, holderOf, identityLabels, instanceUidOf, isIdentityRecord } from "./record.ts";

const hourMs = 3_600_000;
const beatMs = 10_000;
const lease = "tenure-identities/node-1-7-abcdef";
const spec = { ...defaultLeaseSpec, leaseDurationMs: hourMs, labels: { [identityLabels.component]: "scheduler" } };
const register = (desk: Desk, holder = "a") => desk.take(holder, lease, { claim: { spec } });

describe("an identity's lease", () => {
  it("[94] is valid for an hour, which other leases may not be", () => {
    const desk = new Desk();
    register(desk);
    expect(desk.record(lease).holds[0]?.leaseDurationMs).toBe(hourMs);
    expect(desk.try("a", "billing/x", { claim: { spec } }).kind).toBe("timingUnsafe");
    expect(desk.try("a", "tenure-identitiesx/x", { claim: { spec } }).kind).toBe("timingUnsafe");
  });

  it("does not make a restored partition wait for its validity", () => {
    const desk = new Desk();
    register(desk);
    desk.run({ kind: "beginRecovery" }, "owner");
    expect(desk.state.recovery?.holdOffMs).toBe(desk.state.settings.policy.maximumLeaseDurationMs);
  });

  it("keeps holder and start apart", () => {
    expect(holderOf("id", "uid_1")).toBe("id_uid_1");
    expect(instanceUidOf("id", "id_uid_1")).toBe("uid_1");
    expect(instanceUidOf("id", "id")).toBe("");
  });

  it("[98] is one only with the label, in its namespace", () => {
    const desk = new Desk();
    register(desk);
    desk.take("a", "tenure-identities/other");
    desk.take("a", "billing/x", { claim: { spec: { ...spec, leaseDurationMs: 15_000 } } });
    expect(isIdentityRecord(desk.record(lease), "tenure-identities")).toBe(true);
    expect(isIdentityRecord(desk.record(lease), "tenure-identities-2")).toBe(false);
    expect(isIdentityRecord(desk.record("tenure-identities/other"), "tenure-identities")).toBe(false);
    expect(isIdentityRecord(desk.record("billing/x"), "tenure-identities")).toBe(false);
  });

  it("[97] is collected after the grace on the owner's clock, when its term has ended", () => {
    const desk = new Desk();
    register(desk);
    desk.advance(hourMs);
    desk.run({ kind: "expire", lease }, "owner");
    const seen = { expectedRevision: desk.record(lease).revision.sequence, expectedRenewalRevision: 0n };
    const collect = { kind: "collectLease", lease, graceMs: 1_000, isDependent: false, ...seen } as const;
    desk.advance(999);
    expect(desk.run(collect, "gc")).toMatchObject({ isCollected: false });
    desk.advance(1);
    expect(desk.run(collect, "gc")).toMatchObject({ isCollected: true });
    expect(desk.run(collect, "gc")).toMatchObject({ isCollected: false });
  });

  it("[98] is spared when its process came back in between", () => {
    const desk = new Desk();
    register(desk);
    desk.advance(hourMs);
    desk.run({ kind: "expire", lease }, "owner");
    const seen = { expectedRevision: desk.record(lease).revision.sequence, expectedRenewalRevision: 0n };
    register(desk);
    const collect = { kind: "collectLease", lease, graceMs: 0, isDependent: false, ...seen } as const;
    expect(desk.run(collect, "gc")).toMatchObject({ isCollected: false });
  });
});

describe("liveness", () => {
  const sight: LifeSight = {
    beatAtMs: 1_000,
    endedAtMs: 0,
    isDeparted: false,
    beatIntervalMs: beatMs,
    validityMs: hourMs,
  };

  it.each<[number, Liveness]>([
    [0, "live"],
    [29_999, "live"],
    [30_000, "silent"],
    [hourMs - 1, "silent"],
    [hourMs, "expired"],
  ])("%i ms after the last beat is %s", (afterMs, liveness) => {
    expect(livenessAt(sight, 1_000 + afterMs)).toBe(liveness);
  });

  it("is expired when no term runs, and gone when it departed", () => {
    expect(livenessAt({ ...sight, beatAtMs: undefined }, 0)).toBe("expired");
    expect(livenessAt({ ...sight, beatAtMs: undefined, isDeparted: true }, 0)).toBe("gone");
    expect(expiredSinceMs({ ...sight, beatAtMs: undefined, endedAtMs: 7 }, 9)).toBe(7);
  });

  it("changes exactly when it says, and never back by itself", () => {
    const order: readonly Liveness[] = ["live", "silent", "expired"];
    const beats = fc.integer({ min: 1, max: 60_000 });
    fc.assert(
      fc.property(
        beats,
        fc.integer({ min: 1, max: 400_000 }),
        fc.nat({ max: 500_000 }),
        (beat, validityMs, afterMs) => {
          const seen = { ...sight, beatIntervalMs: beat, validityMs };
          const now = 1_000 + afterMs;
          const nextMs = untilLivenessChangesMs(seen, now);
          const before = livenessAt(seen, now);
          if (nextMs === undefined) expect(before).toBe("expired");
          else {
            expect(livenessAt(seen, now + nextMs - 1)).toBe(before);
            expect(order.indexOf(livenessAt(seen, now + nextMs))).toBeGreaterThan(order.indexOf(before));
          }
        },
      ),
    );
  });

  it("is read from the record, on the replica's own clock", () => {
    const desk = new Desk();
    const { token } = register(desk);
    desk.advance(30_000);
    expect(livenessAt(lifeSightOf(desk.record(lease), beatMs), desk.now)).toBe("silent");
    desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 2n }] }, "a");
    expect(livenessAt(lifeSightOf(desk.record(lease), beatMs), desk.now)).toBe("live");
    expect(departureOf(desk.record(lease))).toBeUndefined();
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(departureOf(desk.record(lease))).toBe("left");
    expect(livenessAt(lifeSightOf(desk.record(lease), beatMs), desk.now)).toBe("gone");
  });

  it("is expired, and collected only by word, when the term ran out", () => {
    const desk = new Desk();
    register(desk);
    desk.advance(hourMs);
    desk.run({ kind: "expire", lease }, "owner");
    expect(livenessAt(lifeSightOf(desk.record(lease), beatMs), desk.now)).toBe("expired");
    const expectedRevision = desk.record(lease).revision.sequence;
    const marked = { annotations: { [annotations.departed]: "collected" } };
    const update = { kind: "update", lease, expectedUid: undefined, createIfAbsent: false } as const;
    desk.run({ ...update, expectedRevision, spec: marked }, "gc");
    expect(departureOf(desk.record(lease))).toBe("collected");
  });
});

describe("a collision", () => {
  const steal = (desk: Desk, holder: string) =>
    desk.run(
      {
        kind: "steal",
        lease,
        expectedRevision: desk.record(lease).revision.sequence,
        claimant: { holder },
        sendNumber: 1n,
      },
      { principal: holder, reason: "restart" },
    );
  const seen = (desk: Desk) => collisionOf(desk.record(lease), beatMs, desk.now);

  it("[95] is not seen in restarts", () => {
    const desk = new Desk();
    register(desk, "a");
    for (const holder of ["b", "c", "c", "d"]) {
      steal(desk, holder);
      expect(seen(desk)).toBeUndefined();
    }
  });

  it("[102] is seen when a process that lost the id claims it back, counted, and over six beats after the last", () => {
    const desk = new Desk();
    register(desk, "a");
    steal(desk, "b");
    steal(desk, "a");
    expect(seen(desk)).toMatchObject({ otherHolder: "b", changes: 1 });
    steal(desk, "b");
    expect(seen(desk)).toMatchObject({ otherHolder: "a", changes: 2 });
    desk.advance(6 * beatMs);
    expect(seen(desk)).toBeDefined();
    desk.advance(1);
    expect(seen(desk)).toBeUndefined();
  });
});
