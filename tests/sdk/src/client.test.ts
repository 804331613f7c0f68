import type { Observation, Tenure, Term } from "@tenure/sdk";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SdkDeployment, startSdkDeployment, ways } from "./deployment.ts";

let deployment: SdkDeployment;

beforeAll(async () => {
  deployment = await startSdkDeployment();
}, 120_000);

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

/** A leader that leads until the test ends its work. */
function startLeading(tenure: Tenure, lease: string, options: { readonly signal?: AbortSignal } = {}) {
  const terms: Term[] = [];
  const leading = tenure.lead(lease, options, async (term) => {
    terms.push(term);
    await new Promise((resolve) => term.signal.addEventListener("abort", resolve));
  });
  return { terms, leading, first: () => waitFor(() => terms[0], { describe: "the first term" }) };
}

describe.each(ways)("the client over %s", (way) => {
  it("leads, writes under its token, and hands over on a stop with a greater token", async () => {
    await using first = await deployment.connect(way, { identity: "first" });
    await using second = await deployment.connect(way, { identity: "second" });
    const stop = new AbortController();
    const leader = startLeading(first, `${way}-hand-over`, { signal: stop.signal });
    const before = await leader.first();
    await before.guard.put("state", "by the first");
    const standby = startLeading(second, `${way}-hand-over`);
    await waitFor(async () => ((await first.leases.get(`${way}-hand-over`))?.waiters ?? 0) === 1);
    stop.abort();
    await leader.leading;
    const after = await standby.first();
    expect(after.token).toBeGreaterThan(before.token);
    expect(await after.guard.get("state")).toMatchObject({
      text: "by the first",
      token: before.token,
      holder: "first",
    });
    await after.guard.put("state", "by the second");
    await expect(before.guard.put("state", "late")).rejects.toMatchObject({ reason: "TERM_OVER" });
  });

  it("is renewed for longer than its lease lasts", async () => {
    await using tenure = await deployment.connect(way);
    await using lock = await tenure.lock(`${way}-renewed`);
    await waitFor(() => tenure.metrics.of("tests/*").renewals >= 20, { timeoutMs: 60_000 });
    lock.check();
    expect(lock.standing).toBe("held");
    expect((await tenure.leases.get(`${way}-renewed`))?.holds[0]).toMatchObject({
      token: lock.token,
      holder: tenure.holder,
    });
  });

  it("takes locks alone, together, shared and counted, and says at once when one is taken", async () => {
    await using tenure = await deployment.connect(way);
    await using other = await deployment.connect(way);
    {
      await using lock = await tenure.lock(`${way}-lock`);
      expect(await other.tryLock(`${way}-lock`)).toBeUndefined();
      await expect(other.lock(`${way}-lock`, { wait: "100ms" })).rejects.toMatchObject({ reason: "WAIT_ENDED" });
      await expect(other.lock(`${way}-lock`, { wait: false })).rejects.toMatchObject({
        reason: "LEASE_HELD",
        details: { holder: tenure.holder, token: lock.token },
      });
    }
    await using again = await other.lock(`${way}-lock`, { wait: false });
    expect(again.holder).toBe(other.holder);
    await using both = await tenure.lockAll([`${way}-account:1`, `${way}-account:2`]);
    both.check();
    expect(await other.tryLock(`${way}-account:2`)).toBeUndefined();
    await using reader = await tenure.lock(`${way}-shared`, { mode: "shared" });
    await using also = await other.lock(`${way}-shared`, { mode: "shared", wait: false });
    expect(also.token).not.toBe(reader.token);
    expect(await other.tryLock(`${way}-shared`)).toBeUndefined();
    await using two = await tenure.lock(`${way}-slots`, { mode: "counted", units: 2, capacity: 3 });
    await using one = await other.lock(`${way}-slots`, { mode: "counted", wait: false });
    expect([two.units, one.units]).toEqual([2, 1]);
    expect(await other.tryLock(`${way}-slots`, { mode: "counted" })).toBeUndefined();
  });

  it("gives a waiter its lock as soon as it is released", async () => {
    await using tenure = await deployment.connect(way);
    await using other = await deployment.connect(way);
    const lock = await tenure.lock(`${way}-queue`);
    const waiting = other.lock(`${way}-queue`);
    await waitFor(async () => ((await tenure.leases.get(`${way}-queue`))?.waiters ?? 0) === 1);
    await lock[Symbol.asyncDispose]();
    await using next = await waiting;
    expect(next.token).toBeGreaterThan(lock.token);
  });

  it("leaves the queue when its signal is aborted", async () => {
    await using tenure = await deployment.connect(way);
    await using other = await deployment.connect(way);
    await using lock = await tenure.lock(`${way}-left`);
    const stop = new AbortController();
    const waiting = other.lock(`${way}-left`, { signal: stop.signal });
    await waitFor(async () => ((await tenure.leases.get(`${way}-left`))?.waiters ?? 0) === 1);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    await waitFor(async () => (await tenure.leases.get(`${way}-left`))?.waiters === 0);
    lock.check();
  });

  it("observes who leads: vacant, this one, another, and vacant again", async () => {
    await using tenure = await deployment.connect(way, { identity: "seen" });
    const stop = new AbortController();
    const seen: Observation[] = [];
    const observing = (async () => {
      for await (const observation of tenure.observe(`${way}-seen`, { signal: stop.signal })) seen.push(observation);
    })();
    await waitFor(() => seen.length === 1);
    const tokens: bigint[] = [];
    for (let round = 0; round < 2; round += 1) {
      await using lock = await tenure.lock(`${way}-seen`);
      tokens.push(lock.token);
      await waitFor(() => seen.at(-1)?.kind === "leader" && seen.length >= 2 + 2 * round);
    }
    await waitFor(() => seen.length >= 5);
    stop.abort();
    await observing;
    expect(seen).toMatchObject([
      { kind: "vacant", lastToken: 0n },
      { kind: "leader", holder: "seen", isSelf: true, token: tokens[0] },
      { kind: "vacant", why: "RELEASED" },
      { kind: "leader", token: tokens[1] },
      { kind: "vacant", lastToken: tokens[1] },
    ]);
  });

  it("ends a revoked term with its reason, and leaves it the time that it has", async () => {
    await using tenure = await deployment.connect(way);
    await using lock = await tenure.lock(`${way}-revoked`, { onOverrun: "signal-only" });
    const { revision = 0n } = (await tenure.leases.get(`${way}-revoked`)) ?? {};
    await tenure.leases.revoke(`${way}-revoked`, { expectedRevision: revision, reason: "for the test" });
    await waitFor(() => lock.signal.aborted, { describe: "the revocation to be told" });
    expect(lock.signal.reason).toMatchObject({ reason: "TERM_OVER", end: { kind: "preempted", how: "revoked" } });
    lock.check();
  });

  it("keeps records, their history and their guarded data readable for everyone", async () => {
    await using tenure = await deployment.connect(way);
    const name = `${way}-record`;
    await tenure.leases.create(name, { labels: { team: "blue" } });
    {
      await using lock = await tenure.lock(name);
      await lock.guard.transaction({ if: [{ key: "a", revisionIs: 0n }], put: { a: "1", b: "2" } });
      await expect(lock.guard.transaction({ if: [{ key: "a", valueIs: "9" }], put: { a: "3" } })).rejects.toMatchObject(
        {
          code: "ABORTED",
          reason: "COMPARISON_FAILED",
        },
      );
      expect(await lock.guard.delete("b")).toBe(true);
    }
    expect((await tenure.leases.get(name))?.spec?.labels).toMatchObject({ team: "blue" });
    expect(await tenure.leases.get(`${way}-none`)).toBeUndefined();
    const names: string[] = [];
    for await (const { key } of tenure.leases.list({ namespace: "tests", namePrefix: name }))
      names.push(key?.name ?? "");
    expect(names).toEqual([name]);
    const lines: number[] = [];
    for await (const { kind } of tenure.leases.history(name)) lines.push(kind);
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(await tenure.leases.guarded(name).get("a")).toMatchObject({ text: "1" });
    expect(await tenure.leases.guarded(name).get("b")).toBeUndefined();
  });

  it("tells of bad input with the field and the rule, and changes nothing", async () => {
    await using tenure = await deployment.connect(way);
    await expect(tenure.lock(`${way}-bad.>`)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      details: { field: "lease.name" },
    });
    await expect(tenure.lockAll([`${way}-x`, `${way}-y`])).rejects.toMatchObject({ reason: "ROUTING_PARTS_DIFFER" });
    await using lock = await tenure.lock(`${way}-input`);
    await expect(lock.guard.put("no spaces", "x")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    lock.check();
  });
});
