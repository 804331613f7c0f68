import { describe, expect, it } from "vitest";
import { clientKey } from "../decide/attempt.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { register } from "../testing/candidates.ts";
import { claimOf, Desk } from "../testing/desk.ts";
import { endOverdueWaits } from "./settle.ts";
import { abandonWait, beatWaiter, stir, stirDue } from "./stir.ts";
import { waiterId, waitersOf } from "./waiters.ts";

const lease = "billing/scheduler";
const wait = { timeoutMs: undefined, ageMs: 0, beatNumber: 0n };
const attempt = (holder: string, number = 1n) => ({ clientId: holder, number, settledBelow: 0n });
const idOf = (holder: string, number = 1n) => waiterId(clientKey(holder, holder), number);

function queue(desk: Desk, holder: string, more: Parameters<Desk["try"]>[2] = {}) {
  return desk.try(holder, lease, { wait, attempt: attempt(holder), ...more });
}
const granted = (desk: Desk) =>
  desk.settled.filter(({ reply }) => reply.kind === "granted").map(({ waiter }) => waiter.id);
const release = (desk: Desk, holder: string) =>
  desk.run({ kind: "release", items: [{ lease, token: desk.record(lease).lastToken }] }, holder);

describe("waiting (rules 10 and 12)", () => {
  it("grants in order when the lease becomes free, in the batch of the release", () => {
    const desk = new Desk();
    desk.take("a", lease);
    expect(queue(desk, "b")).toEqual({ kind: "queued", waiterId: idOf("b"), ahead: 0 });
    expect(queue(desk, "c")).toEqual({ kind: "queued", waiterId: idOf("c"), ahead: 1 });
    const before = desk.sequence;
    release(desk, "a");
    expect(desk.sequence).toBe(before + 3n);
    expect(granted(desk)).toEqual([idOf("b")]);
    expect(desk.record(lease).holds[0]?.holder).toBe("b");
    release(desk, "b");
    expect(granted(desk)).toEqual([idOf("b"), idOf("c")]);
    expect(waitersOf(desk.owned.waiters, lease)).toBe(0);
  });

  it("names the newest beat that reached the owner", () => {
    const desk = new Desk();
    desk.take("a", lease);
    queue(desk, "b", { sendNumber: 4n });
    expect(beatWaiter(desk.owned, idOf("b"), 6n, desk.now)).toBe(true);
    expect(beatWaiter(desk.owned, idOf("b"), 5n, desk.now)).toBe(true);
    expect(beatWaiter(desk.owned, idOf("nobody"), 6n, desk.now)).toBe(false);
    release(desk, "a");
    expect(desk.settled[0]?.reply).toMatchObject({ kind: "granted", grants: [{ sendNumber: 6n }] });
  });

  it("skips those that have been silent for more than 2R + T, and grants them when they beat again", () => {
    const desk = new Desk();
    desk.take("a", lease);
    queue(desk, "b");
    desk.advance(1);
    queue(desk, "c");
    desk.advance(6_000);
    release(desk, "a");
    expect(granted(desk)).toEqual([idOf("c")]);
    release(desk, "c");
    expect(desk.record(lease).holds).toEqual([]);
    expect(beatWaiter(desk.owned, idOf("b"), 9n, desk.now)).toBe(true);
    desk.batch();
    expect(granted(desk)).toEqual([idOf("c"), idOf("b")]);
  });

  it("grants one that was silent and sends its wait again, though another goes on holding", () => {
    const desk = new Desk();
    const unit = { claim: { mode: "counted", spec: { ...defaultLeaseSpec, mode: "counted", capacity: 2 } } } as const;
    desk.take("a", lease, unit);
    desk.take("b", lease, unit);
    queue(desk, "c", unit);
    desk.advance(10_000);
    release(desk, "b");
    expect(granted(desk), "c is silent").toEqual([]);
    expect(queue(desk, "c", unit)).toMatchObject({ kind: "queued" });
    desk.batch();
    expect(granted(desk)).toEqual([idOf("c")]);
  });

  it("does not let a new claim pass those that wait", () => {
    const desk = new Desk();
    const shared = { claim: { mode: "shared" } } as const;
    desk.take("r", lease, shared);
    queue(desk, "w");
    expect(desk.try("s", lease, shared)).toMatchObject({ kind: "held", holder: "r" });
    expect(queue(desk, "s", shared)).toMatchObject({ kind: "queued", ahead: 1 });
    release(desk, "r");
    expect(granted(desk)).toEqual([idOf("w")]);
    release(desk, "w");
    expect(granted(desk)).toEqual([idOf("w"), idOf("s")]);
    expect(desk.try("t", lease, shared).kind).toBe("granted");
  });

  it("grants every reader that waits, one per batch, without another command", () => {
    const desk = new Desk();
    const shared = { claim: { mode: "shared" } } as const;
    desk.take("a", lease);
    for (const holder of ["b", "c", "d"]) queue(desk, holder, shared);
    release(desk, "a");
    expect(granted(desk)).toHaveLength(1);
    expect(desk.owned.stirred.size).toBe(1);
    desk.batch();
    desk.batch();
    expect(granted(desk)).toEqual([idOf("b"), idOf("c"), idOf("d")]);
    desk.batch();
    expect(desk.owned.stirred.size).toBe(0);
  });

  it("keeps the place of an open wait that is sent again with its age", () => {
    const desk = new Desk();
    desk.take("a", lease);
    queue(desk, "b");
    desk.advance(1_000);
    queue(desk, "c", { wait: { ...wait, ageMs: 5_000 } });
    release(desk, "a");
    expect(granted(desk)).toEqual([idOf("c")]);
  });

  it("takes a wait that is sent again as the one in the queue, and a granted one from memory", () => {
    const desk = new Desk();
    desk.take("a", lease);
    queue(desk, "b", { sendNumber: 1n });
    expect(queue(desk, "b", { sendNumber: 3n })).toMatchObject({ kind: "queued", waiterId: idOf("b") });
    expect(queue(desk, "b", { wait: { ...wait, beatNumber: 8n } }).kind).toBe("queued");
    expect(waitersOf(desk.owned.waiters, lease)).toBe(1);
    release(desk, "a");
    expect(queue(desk, "b")).toEqual(desk.settled[0]?.reply);
    expect(desk.settled[0]?.reply).toMatchObject({ grants: [{ sendNumber: 8n }] });
  });

  it("leaves the queue when the call is abandoned, and whoever stood behind is looked at", () => {
    const desk = new Desk();
    const shared = { claim: { mode: "shared" } } as const;
    desk.take("r", lease, shared);
    queue(desk, "w");
    queue(desk, "s", shared);
    expect(abandonWait(desk.owned, idOf("w"))).toBe(true);
    expect(abandonWait(desk.owned, idOf("w"))).toBe(false);
    desk.batch();
    expect(granted(desk)).toEqual([idOf("s")]);
  });

  it("ends with its timeout, and is forgotten when its caller has gone", () => {
    const desk = new Desk();
    desk.take("a", lease);
    queue(desk, "b", { wait: { ...wait, timeoutMs: 3_000 } });
    queue(desk, "c");
    desk.now += 2_999;
    expect(endOverdueWaits(desk.owned, desk.now)).toEqual([]);
    desk.now += 1;
    expect(endOverdueWaits(desk.owned, desk.now)).toMatchObject([
      { waiter: { id: idOf("b") }, reply: { kind: "waitEnded", leases: [lease] } },
    ]);
    desk.now += 12_001;
    expect(endOverdueWaits(desk.owned, desk.now).map(({ waiter }) => waiter.id)).toEqual([idOf("c")]);
    expect(desk.owned.waiters.queues.size).toBe(0);
  });

  it("is granted when a lock delay has passed and the owner looks again", () => {
    const desk = new Desk();
    desk.take("a", lease, { claim: { spec: { ...defaultLeaseSpec, lockDelayMs: 2_000 } } });
    desk.advance(15_000);
    expect(queue(desk, "b").kind).toBe("queued");
    desk.run({ kind: "expire", lease }, "owner");
    expect(granted(desk)).toEqual([]);
    stirDue(desk.owned, desk.now);
    expect(desk.owned.waiters.lookAgainAtMs.get(lease)).toBe(desk.now + 2_000);
    desk.now += 2_000;
    stirDue(desk.owned, desk.now);
    stir(desk.owned, "billing/nobody-waits");
    desk.batch();
    expect(granted(desk)).toEqual([idOf("b")]);
    expect(desk.owned.waiters.lookAgainAtMs.size).toBe(0);
  });

  it("is looked at again when the fallback delay has passed, and not at all where there is none", () => {
    const desk = new Desk();
    register(desk, lease, "candidate");
    expect(queue(desk, "b").kind).toBe("queued");
    expect(desk.owned.waiters.lookAgainAtMs.size).toBe(0);
    abandonWait(desk.owned, idOf("b"));
    desk.run({ kind: "create", lease, spec: { ...defaultLeaseSpec, fallbackDelayMs: 3_000 } }, "op");
    desk.advance(1_000);
    queue(desk, "b");
    const dueAtMs = desk.now + 2_000;
    expect(desk.owned.waiters.lookAgainAtMs.get(lease)).toBe(dueAtMs);
    desk.now = dueAtMs;
    stirDue(desk.owned, desk.now);
    desk.batch();
    expect(granted(desk)).toEqual([idOf("b")]);
  });

  it("is granted by an expiry too", () => {
    const desk = new Desk();
    desk.take("a", lease);
    queue(desk, "b");
    for (let n = 1n; n <= 3n; n++) {
      desk.advance(5_000);
      beatWaiter(desk.owned, idOf("b"), n, desk.now);
    }
    desk.run({ kind: "expire", lease }, "owner");
    expect(granted(desk)).toEqual([idOf("b")]);
  });

  it("ends with the reason when the claim can no longer be granted", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    queue(desk, "b");
    const eligibility = { configuration: "m", configurationDigest: "d", components: [] };
    desk.run({ kind: "putMigration", lease, expectedRevision: undefined, configuration: undefined, eligibility }, "m");
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.settled).toMatchObject([{ waiter: { id: idOf("b") }, reply: { kind: "notEligible" } }]);
  });

  it("for several leases is all or nothing and holds nobody else up", () => {
    const desk = new Desk();
    const [one, two] = ["billing/acct:1", "billing/acct:2"] as const;
    const held = [desk.take("a", one), desk.take("a", two)];
    const claims = [one, two].map((name) => ({ lease: name, mode: "exclusive", units: 1 }) as const);
    expect(desk.try("m", "", { claims, wait, attempt: attempt("m") }).kind).toBe("queued");
    expect(desk.try("s", one, { wait, attempt: attempt("s") }).kind).toBe("queued");
    const free = (name: string, token = 0n, holder = "a") =>
      desk.run({ kind: "release", items: [{ lease: name, token }] }, holder);
    free(one, held[0]?.token);
    expect(granted(desk)).toEqual([idOf("s")]);
    free(two, held[1]?.token);
    expect(granted(desk)).toEqual([idOf("s")]);
    free(one, desk.record(one).lastToken, "s");
    expect(granted(desk)).toEqual([idOf("s"), idOf("m")]);
    expect([desk.record(one).holds[0]?.holder, desk.record(two).holds[0]?.holder]).toEqual(["m", "m"]);
  });

  it("needs an attempt, and is limited per lease and partition", () => {
    const desk = new Desk();
    desk.take("a", lease);
    expect(desk.try("b", lease, { wait })).toMatchObject({ kind: "invalid", violations: [{ field: "attempt" }] });
    const { settings } = desk.state;
    const limit = (more: object) =>
      desk.run({ kind: "changeSettings", settings: { ...settings, limits: { ...settings.limits, ...more } } }, "o");
    limit({ waitersPerLease: 1 });
    expect(queue(desk, "b").kind).toBe("queued");
    expect(queue(desk, "c")).toEqual({ kind: "limitExceeded", limit: "waitersPerLease", value: 1 });
    limit({ waitersPerPartition: 1 });
    expect(queue(desk, "c")).toEqual({ kind: "limitExceeded", limit: "waitersPerPartition", value: 1 });
  });

  it("is not part of the replicated state: the next owner's queue is empty until claims are sent again", () => {
    const desk = new Desk();
    desk.take("a", lease);
    queue(desk, "b");
    desk.failOver();
    expect(waitersOf(desk.owned.waiters, lease)).toBe(0);
    expect(beatWaiter(desk.owned, idOf("b"), 2n, desk.now)).toBe(false);
    expect(queue(desk, "b", { wait: { ...wait, ageMs: 900 } }).kind).toBe("queued");
  });

  it("two claims for a free lease in one batch: the second waits for its turn", () => {
    const desk = new Desk();
    const replies = desk.batch(claimOf("a", lease), { ...claimOf("b", lease), wait, attempt: attempt("b") });
    expect(replies.map(({ kind }) => kind)).toEqual(["granted", "queued"]);
  });
});
