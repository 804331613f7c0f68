import { describe, expect, it } from "vitest";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";
import { beatWaiter, stirDue } from "./stir.ts";

const lease = "billing/scheduler";
const spec = { ...defaultLeaseSpec, minimumTermMs: 5_000, coolDownMs: 60_000 };

/** Holds with a key. */
const hold = (desk: Desk, holder: string, holderKey: string, more: object = {}) =>
  desk.take(holder, lease, { claimant: { holder, holderKey }, ...more });

let attempts = 0n;

/** Waits with a key that goes before another. */
function wait(desk: Desk, holder: string, supersedesKey: string | undefined) {
  attempts += 1n;
  const attempt = { clientId: holder, number: attempts, settledBelow: 0n };
  const waiting = { timeoutMs: undefined, ageMs: 0, beatNumber: 0n };
  const precedence = supersedesKey === undefined ? waiting : { ...waiting, supersedesKey };
  const reply = desk.try(holder, lease, { claimant: { holder, holderKey: "k" }, wait: precedence, attempt });
  return reply.kind === "queued" ? reply.waiterId : reply.kind;
}

const successor = (desk: Desk) => desk.record(lease).endOfTerm?.preferredHolder;
const release = (desk: Desk, holder: string) =>
  desk.run(
    { kind: "release", items: [{ lease, token: desk.record(lease).lastToken }], endReason: "preempted" },
    holder,
  );

describe("precedence by key", () => {
  it("[105] [106] marks the term of a holder with that very key, and the claimant follows before all who wait", () => {
    for (const key of ["", "1.20.0"]) {
      const desk = new Desk();
      const { token } = hold(desk, "old", key);
      wait(desk, "first", undefined);
      wait(desk, "new", "1.19.0");
      expect(successor(desk), "the holder has another key").toBeUndefined();
      wait(desk, "new", key);
      expect(desk.record(lease).endOfTerm).toMatchObject({
        token,
        preferredHolder: "new",
        author: "new",
        decisionId: "",
      });
      expect(desk.record(lease).holds[0]).toMatchObject({ holder: "old", token });
      release(desk, "old");
      expect(desk.record(lease).holds[0]).toMatchObject({ holder: "new" });
    }
  });

  it("[103] marks nothing where nobody names a key, nor for several leases, nor where an election decides", () => {
    const plain = new Desk();
    hold(plain, "old", "");
    wait(plain, "new", undefined);
    expect(successor(plain)).toBeUndefined();
    const coordinated = new Desk();
    hold(coordinated, "old", "");
    register(coordinated, lease, "candidate");
    wait(coordinated, "new", "");
    expect(successor(coordinated)).toBeUndefined();
  });

  it("[107] leaves a young term alone for the minimum term, and looks again when that has passed", () => {
    const desk = new Desk();
    const { token } = hold(desk, "old", "", { claim: { spec } });
    const id = wait(desk, "new", "");
    expect(successor(desk)).toBeUndefined();
    expect(desk.owned.waiters.lookAgainAtMs.get(lease)).toBe(desk.now + 5_000);
    desk.now += 5_000;
    desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 2n }] }, "old");
    beatWaiter(desk.owned, id, 2n, desk.now);
    stirDue(desk.owned, desk.now);
    desk.batch();
    expect(successor(desk)).toBe("new");
  });

  it.each([
    ["the lease's cool-down", spec, 60_000],
    ["the lease duration where there is none", { ...spec, coolDownMs: 0 }, 15_000],
  ])("[107] two that contradict each other change at most once per %s", (_, own, coolDownMs) => {
    const desk = new Desk();
    hold(desk, "a", "", { claim: { spec: own } });
    let changes = 0;
    const waiting = new Map([["b", wait(desk, "b", "")]]);
    const endAtMs = desk.now + 10 * coolDownMs;
    while (desk.now < endAtMs) {
      desk.now += 1_000;
      const [{ holder, token } = { holder: "", token: 0n }] = desk.record(lease).holds;
      desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 2n }] }, holder);
      const other = holder === "a" ? "b" : "a";
      beatWaiter(desk.owned, waiting.get(other) ?? "", 2n, desk.now);
      stirDue(desk.owned, desk.now);
      desk.batch();
      if (successor(desk) !== other) continue;
      release(desk, holder);
      changes += 1;
      waiting.set(holder, wait(desk, holder, "k"));
    }
    expect(changes).toBeGreaterThan(1);
    expect(changes).toBeLessThanOrEqual(11);
  });
});
