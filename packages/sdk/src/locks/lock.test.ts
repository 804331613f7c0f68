import { HoldMode } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { refusal } from "../testing/scripted-session.ts";

describe("locks", () => {
  it.each([
    [undefined, "forever"],
    [true, "forever"],
    [false, 0],
    ["10s", 10_000],
    [250, 250],
  ] as const)("wait %s asks the store to wait %s", async (wait, waitMs) => {
    const { client, session } = clientUnderTest();
    void client.lock("jobs/one", { wait }).catch(() => undefined);
    await session.clock.advance(0);
    expect(session.lastClaim.options.waitMs).toBe(waitMs);
  });

  it("use the client's default namespace, and refuse a name without one when there is none", async () => {
    const { client, session } = clientUnderTest();
    void client.lock("one").catch(() => undefined);
    await session.clock.advance(0);
    expect(session.lastClaim.request.claims[0]?.lease).toEqual({ namespace: "tests", name: "one" });
    const bare = clientUnderTest({ namespace: undefined });
    await expect(bare.client.lock("one")).rejects.toThrow('lease "one" needs a namespace');
  });

  it("that are not granted reject with the store's reason", async () => {
    const { client, session } = clientUnderTest();
    const taking = client.lock("jobs/one", { wait: false });
    await session.clock.advance(0);
    session.lastClaim.fail(refusal("LEASE_HELD"));
    await expect(taking).rejects.toMatchObject({ reason: "LEASE_HELD" });
  });

  it("tried say undefined when another has it, and throw for anything else", async () => {
    const { client, session } = clientUnderTest();
    const trying = client.tryLock("jobs/one");
    await session.clock.advance(0);
    expect(session.lastClaim.options.waitMs).toBe(0);
    session.lastClaim.fail(refusal("LEASE_HELD"));
    expect(await trying).toBeUndefined();
    for (const reason of ["NOT_ELIGIBLE", "HOLD_MODE_MISMATCH"]) {
      const again = client.tryLock("jobs/one");
      await session.clock.advance(0);
      session.lastClaim.fail(refusal(reason));
      await expect(again).rejects.toMatchObject({ reason });
    }
  });

  it("are shared or counted when asked", async () => {
    const { client, session } = clientUnderTest();
    const shared = client.lock("jobs/read", { mode: "shared" });
    await session.clock.advance(0);
    expect(session.lastClaim.request.claims[0]).toMatchObject({
      mode: HoldMode.SHARED,
      spec: { mode: HoldMode.SHARED },
    });
    session.lastClaim.grant();
    expect((await shared).mode).toBe("shared");
    const counted = client.lock("jobs/slots", { mode: "counted", units: 2, capacity: 5 });
    await session.clock.advance(0);
    expect(session.lastClaim.request.claims[0]).toMatchObject({
      mode: HoldMode.COUNTED,
      units: 2,
      spec: { mode: HoldMode.COUNTED, capacity: 5 },
    });
    session.lastClaim.grant();
    expect(await counted).toMatchObject({ mode: "counted", units: 2 });
  });

  it("are given up by a signal, and by closing the client", async () => {
    const { client, session } = clientUnderTest();
    const stop = new AbortController();
    const first = client.lock("jobs/one", { signal: stop.signal });
    const second = client.lock("jobs/two");
    await session.clock.advance(0);
    stop.abort();
    await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
    await Promise.all([client.close(), expect(second).rejects.toMatchObject({ code: "CANCELLED" })]);
  });

  it("that were granted too late are given back and asked for again", async () => {
    const { client, session } = clientUnderTest();
    const taking = client.lock("jobs/one");
    await session.clock.advance(0);
    session.lastClaim.grant(Number.NEGATIVE_INFINITY);
    await session.clock.advance(0);
    expect(session.releases).toHaveLength(1);
    session.lastClaim.grant();
    expect((await taking).token).toBe(42n);
  });

  it("taken together have a token each, end together and are given back together", async () => {
    const { client, session } = clientUnderTest();
    const taking = client.lockAll(["bank/account:1", "bank/account:2"]);
    await session.clock.advance(0);
    expect(session.claims).toHaveLength(1);
    session.lastClaim.grant();
    const both = await taking;
    expect(both.locks.map(({ token }) => token)).toEqual([41n, 42n]);
    await session.clock.advance(100);
    session.kept[0]?.listener.onRenewed(1_100);
    expect(both.remainingMs).toBe(1_000);
    both.check();
    session.kept[1]?.listener.onRefused(refusal("FENCED"));
    expect(() => both.check()).toThrow("account:2");
    expect(both.signal.reason?.end.kind).toBe("preempted");
    await both[Symbol.asyncDispose]();
    expect(session.releases.map(({ items }) => items[0]?.lease.name)).toEqual(["account:1"]);
  });

  it("none of them is no set", async () => {
    await expect(clientUnderTest().client.lockAll([])).rejects.toThrow("at least one lock");
  });
});
