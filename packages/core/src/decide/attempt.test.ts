import { describe, expect, it } from "vitest";
import { hash32 } from "../hash.ts";
import type { Command } from "../partition/command.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { takeSnapshot } from "../snapshot/take.ts";
import { claimOf, Desk } from "../testing/desk.ts";
import { clientKey, digestOf } from "./attempt.ts";

const lease = "billing/scheduler";
const attempt = (number: bigint, clientId = "c1", settledBelow = 0n) => ({ clientId, number, settledBelow });

function bounded(retention: Partial<Desk["state"]["settings"]["retention"]>): Desk {
  const desk = new Desk();
  const { settings } = desk.state;
  const changed = { ...settings, retention: { ...settings.retention, ...retention } };
  desk.run({ kind: "changeSettings", settings: changed }, "owner");
  return desk;
}

describe("one answer per attempt (rule 4)", () => {
  it("a duplicate gets the recorded outcome and no second effect, also in the same batch", () => {
    const desk = new Desk();
    const claim = { ...claimOf("a", lease), attempt: attempt(1n) };
    const [first, twin] = desk.batch(claim, { ...claim, sendNumber: 2n });
    expect(first?.kind).toBe("granted");
    expect(twin).toEqual(first);
    const before = takeSnapshot(desk.state);
    desk.advance(100_000);
    expect(desk.batch({ ...claim, sendNumber: 3n })[0]).toEqual(first);
    expect(takeSnapshot(desk.state).leases).toEqual(before.leases);
  });

  it.each<[string, (token: bigint) => Command]>([
    ["create", () => ({ kind: "create", lease: "billing/new", spec: defaultLeaseSpec, principal: "a" })],
    ["release", (token) => ({ kind: "release", items: [{ lease, token }], principal: "a" })],
    ["delete", () => ({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined, principal: "a" })],
    [
      "guard",
      (token) => ({
        kind: "guard",
        lease,
        token,
        comparisons: [],
        changes: [{ key: "k", value: new Uint8Array([1]) }],
        principal: "a",
      }),
    ],
  ])("of a %s is answered from memory, on this owner, the next and one that starts from a snapshot", (_, make) => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const command = { ...make(token), attempt: attempt(7n) };
    const [first] = desk.batch(command);
    const known = { ...first, position: { sequence: desk.sequence } };
    expect(desk.batch(command)[0]).toMatchObject(known);
    desk.failOver();
    expect(desk.batch(command)[0]).toMatchObject(known);
    desk.restart();
    expect(desk.batch(command)[0]).toMatchObject(known);
  });

  it("of a caller that has left only tells what it did: it claims nothing that is free now", () => {
    const desk = new Desk();
    const claim = { ...claimOf("a", lease), attempt: attempt(1n) };
    const given = { ...claim, isGivenUp: true };
    expect(desk.batch(given)[0]).toEqual({ kind: "waitEnded", leases: [lease] });
    expect(desk.state.leases.has(lease)).toBe(false);
    const [first] = desk.batch(claim);
    expect(first?.kind).toBe("granted");
    expect(desk.batch(given)[0]).toEqual(first);
    expect(desk.batch({ ...claimOf("a", lease), isGivenUp: true })[0]).toMatchObject({ kind: "invalid" });
  });

  it("of a caller that has left ends its wait, and whoever stands behind it is next", () => {
    const desk = new Desk();
    const wait = { timeoutMs: undefined, ageMs: 0, beatNumber: 0n };
    const { token } = desk.take("a", lease);
    const gone = { ...claimOf("b", lease), attempt: attempt(1n, "b"), wait };
    const next = { ...claimOf("c", lease), attempt: attempt(1n, "c"), wait };
    expect(desk.batch(gone, next).map(({ kind }) => kind)).toEqual(["queued", "queued"]);
    expect(desk.batch({ ...gone, isGivenUp: true })[0]?.kind).toBe("waitEnded");
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease).holds.map(({ holder }) => holder)).toEqual(["c"]);
  });

  it("a refusal changed nothing, so the same attempt may be tried again", () => {
    const desk = new Desk();
    const { token } = desk.take("b", lease);
    const claim = { ...claimOf("a", lease), attempt: attempt(1n) };
    expect(desk.batch(claim)[0]?.kind).toBe("held");
    desk.run({ kind: "release", items: [{ lease, token }] }, "b");
    expect(desk.batch(claim)[0]?.kind).toBe("granted");
  });

  it("the number of one request is not taken for another's, nor one client for another", () => {
    const desk = new Desk();
    const claim = { ...claimOf("a", lease), attempt: attempt(1n) };
    desk.batch(claim);
    expect(desk.batch({ ...claimOf("a", "billing/other"), attempt: attempt(1n) })[0]).toEqual({
      kind: "attemptReused",
      number: 1n,
    });
    expect(desk.batch({ ...claim, principal: "b" })[0]?.kind).toBe("held");
    expect(desk.batch({ ...claimOf("a", "billing/other"), attempt: attempt(1n, "c2") })[0]?.kind).toBe("granted");
    expect(desk.batch({ ...claim, attempt: attempt(0n) })[0]?.kind).toBe("invalid");
  });

  it("knows a request by the same digest for ever: logs have it", () => {
    const item = { lease: "billing/größe", token: 17n };
    expect(digestOf(claimOf("a", "billing/x"))).toBe(hash32("acquire\nbilling/x\nexclusive\n1\na"));
    expect(digestOf(claimOf("größe", "billing/x"))).toBe(hash32("acquire\nbilling/x\nexclusive\n1\ngröße"));
    const release = { kind: "release", items: [item, { ...item, token: 18n }], principal: "a" } as const;
    expect(digestOf(release)).toBe(hash32("release\nbilling/größe\n17\nbilling/größe\n18"));
    const revoke = { kind: "revoke", ...item, expectedRevision: 1n, principal: "a" } as const;
    expect(digestOf(revoke)).toBe(hash32("revoke\nbilling/größe\n17"));
  });

  it("a guarded write of another value under the same number is not taken for the first", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const write = (text: string) => ({
      kind: "guard" as const,
      lease,
      token,
      comparisons: [],
      changes: [{ key: "k", value: new TextEncoder().encode(text) }],
      principal: "a",
      attempt: attempt(1n),
    });
    expect(desk.batch(write("one"))[0]?.kind).toBe("guardedChanged");
    expect(desk.batch(write("one"))[0]?.kind).toBe("guardedChanged");
    expect(desk.batch(write("two"))[0]).toEqual({ kind: "attemptReused", number: 1n });
  });

  it("an attempt that fell out of the window is refused, because it may have happened", () => {
    const desk = bounded({ outcomesPerClient: 3 });
    for (let n = 1n; n <= 5n; n++) desk.batch({ ...claimOf("a", `billing/l${n}`), attempt: attempt(n) });
    expect(desk.batch({ ...claimOf("a", "billing/l2"), attempt: attempt(2n) })[0]).toEqual({
      kind: "attemptTooOld",
      number: 2n,
      floor: 3n,
    });
    expect(desk.batch({ ...claimOf("a", "billing/l3"), attempt: attempt(3n) })[0]?.kind).toBe("granted");
  });

  it("attempts may arrive out of order within the window", () => {
    const desk = new Desk();
    for (const n of [3n, 1n, 2n]) desk.batch({ ...claimOf("a", `billing/l${n}`), attempt: attempt(n) });
    const numbers = desk.state.clients.get(clientKey("a", "c1"))?.outcomes.map(({ number }) => number);
    expect(numbers).toEqual([1n, 2n, 3n]);
  });

  it("what the client has settled is forgotten early", () => {
    const desk = new Desk();
    for (let n = 1n; n <= 4n; n++) desk.batch({ ...claimOf("a", `billing/l${n}`), attempt: attempt(n, "c1", n - 1n) });
    const window = desk.state.clients.get(clientKey("a", "c1"));
    expect(window?.outcomes.map(({ number }) => number)).toEqual([3n, 4n]);
    expect(window?.floor).toBe(3n);
    desk.run({ kind: "forgetAttempts", client: clientKey("a", "c1"), belowNumber: 5n }, "owner");
    expect(window).toEqual({ floor: 5n, outcomes: [] });
    desk.run({ kind: "forgetAttempts", client: "nobody", belowNumber: 5n }, "owner");
  });

  it("of clients that are quiet for longest only the highest number is kept, so that a late duplicate is still refused", () => {
    const desk = bounded({ clientsWithOutcomes: 2, clientsRemembered: 1 });
    for (const [index, client] of ["c1", "c2", "c3"].entries()) {
      desk.batch({ ...claimOf("a", `billing/l${index}`), attempt: attempt(9n, client) });
    }
    expect([...desk.state.clients.keys()]).toEqual([clientKey("a", "c2"), clientKey("a", "c3")]);
    expect(desk.batch({ ...claimOf("a", "billing/l0"), attempt: attempt(9n, "c1") })[0]).toMatchObject({
      kind: "attemptTooOld",
      floor: 10n,
    });
    expect(desk.batch({ ...claimOf("a", "billing/l9"), attempt: attempt(10n, "c1") })[0]?.kind).toBe("granted");
    expect(desk.state.clients.get(clientKey("a", "c1"))?.floor).toBe(10n);
    expect([...desk.state.retiredClients]).toEqual([[clientKey("a", "c2"), 10n]]);
    desk.batch({ ...claimOf("a", "billing/l10"), attempt: attempt(1n, "c4") });
    expect([...desk.state.retiredClients.keys()]).toEqual([clientKey("a", "c3")]);
    expect(takeSnapshot(desk.follower)).toEqual(takeSnapshot(desk.state));
  });
});
