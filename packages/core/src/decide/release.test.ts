import { describe, expect, it } from "vitest";
import { takeSnapshot } from "../snapshot/take.ts";
import { claimOf, Desk } from "../testing/desk.ts";

const lease = "billing/scheduler";

describe("release", () => {
  it("[9] frees the lease at once and keeps its transitions; the next claimant need not wait", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(desk.run({ kind: "release", items: [{ lease, token }] }, "a")).toMatchObject({ released: [true] });
    expect(desk.record(lease)).toMatchObject({ holds: [], transitions: 0, lastEndReason: "released" });
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("[11] of what one does not hold, or no longer holds, changes nothing and is no error", () => {
    const desk = new Desk();
    const { token: old } = desk.take("b", lease);
    desk.advance(15_000);
    const { token } = desk.take("a", lease);
    const before = takeSnapshot(desk.state).leases;
    const nothing = { kind: "released", released: [false], position: undefined };
    expect(desk.run({ kind: "release", items: [{ lease, token: old }] }, "b")).toEqual(nothing);
    expect(desk.run({ kind: "release", items: [{ lease, token }] }, "b")).toEqual(nothing);
    expect(desk.run({ kind: "release", items: [{ lease: "x/y", token }] }, "b")).toEqual(nothing);
    expect(takeSnapshot(desk.state).leases).toEqual(before);
  });

  it("[12] in one batch with the holder's own renewal succeeds, in either order", () => {
    for (const isRenewedFirst of [true, false]) {
      const desk = new Desk();
      const { token } = desk.take("a", lease);
      const renewal = { kind: "renew", items: [{ lease, token, sendNumber: 2n }], principal: "a" } as const;
      const release = { kind: "release", items: [{ lease, token }], principal: "a" } as const;
      const replies = desk.batch(...(isRenewedFirst ? [renewal, release] : [release, renewal]));
      expect(replies.find(({ kind }) => kind === "released")).toMatchObject({ released: [true] });
      expect(desk.record(lease).holds).toEqual([]);
      expect(takeSnapshot(desk.follower)).toEqual(takeSnapshot(desk.state));
    }
  });

  it("ends several terms in one step", () => {
    const desk = new Desk();
    const names = ["billing/acct:1", "billing/acct:2"];
    const items = names.map((name) => ({ lease: name, token: desk.take("a", name).token }));
    expect(desk.run({ kind: "release", items }, "a")).toMatchObject({ released: [true, true] });
    expect(names.flatMap((name) => desk.record(name).holds)).toEqual([]);
  });

  it.each([
    [undefined, "released"],
    ["steppedDown", "steppedDown"],
    ["preempted", "preempted"],
  ] as const)("keeps the holder's reason %s in history as %s", (endReason, cause) => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.advance(1_500);
    const items = [{ lease, token }];
    desk.run({ kind: "release", items, ...(endReason && { endReason }) }, { principal: "a", reason: "done" });
    expect(desk.record(lease).history.at(-1)).toMatchObject({
      kind: "ended",
      holder: "a",
      token,
      author: "a",
      cause,
      details: { heldForMs: 1_500, reason: "done" },
    });
  });

  it.each([
    [undefined, "steppedDown"],
    [{ id: "d1", body: new Uint8Array() }, "preempted"],
  ])("at an end of term asked for with decision %j counts as %s", (decision, cause) => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const expectedRevision = desk.record(lease).revision.sequence;
    const mark = { kind: "markEndOfTerm", lease, expectedRevision, token, preferredHolder: "b" } as const;
    desk.run({ ...mark, ...(decision && { decision }) }, "coordinator");
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease)).toMatchObject({ lastEndReason: cause, endOfTerm: undefined, preferredHolder: "b" });
    desk.take("b", lease);
    expect(desk.record(lease).preferredHolder).toBe("");
  });

  it("with an attempt that was answered does not end a later term of the same holder", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const attempt = { clientId: "c", number: 1n, settledBelow: 0n };
    const release = { kind: "release", items: [{ lease, token }], principal: "a", attempt } as const;
    desk.batch(release);
    desk.batch(claimOf("a", lease));
    expect(desk.batch(release)[0]).toMatchObject({ kind: "released", released: [true] });
    expect(desk.record(lease).holds).toHaveLength(1);
  });
});
