import {
  GuardServicePutRequest,
  LeaseClaim,
  LeaseServiceGetRequest,
  LeaseServiceWatchRequest,
  StoreServiceMarkEndOfTermRequest,
  TermEndReason,
} from "@tenure/contracts";
import { atEndOfTurn } from "@tenure/kernel";
import type { Session } from "@tenure/sdk/session";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimOf, keptOf, Notes, only } from "./claims.ts";
import { type SessionDeployment, startSessionDeployment, ways } from "./deployment.ts";

let deployment: SessionDeployment;

beforeAll(async () => {
  deployment = await startSessionDeployment(2);
}, 60_000);

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

describe.each(ways)("a session over %s", (way) => {
  it("claims, is refused with the holder's name, and releases", async () => {
    await using session = await deployment.open(way);
    const beforeMs = session.clock.now();
    const granted = only(await session.claim(claimOf("a", [`${way}-one`])));
    expect(granted.sentAtMs).toBeGreaterThanOrEqual(beforeMs - 5);
    expect(granted.sentAtMs).toBeLessThanOrEqual(session.clock.now());
    await expect(session.claim(claimOf("b", [`${way}-one`]))).rejects.toMatchObject({
      name: "TenureError",
      code: "FAILED_PRECONDITION",
      reason: "LEASE_HELD",
      applied: "NO",
      details: { holder: "a", token: granted.grant.hold?.token },
    });
    const { lease, token } = keptOf(granted);
    expect(await session.release([{ lease, token }])).toMatchObject({ released: [true] });
    expect(await session.release([{ lease, token }])).toMatchObject({ released: [false], revision: 0n });
  });

  it("keeps a term by renewals, each proven by the instant of its own send", async () => {
    await using session = await deployment.open(way);
    const granted = only(await session.claim(claimOf("a", [`${way}-kept`])));
    const notes = new Notes();
    using keeping = session.keep(keptOf(granted), notes);
    await waitFor(() => notes.renewed.length >= 25, { describe: "25 renewals", timeoutMs: 30_000 });
    expect(notes.renewed).toEqual([...notes.renewed].sort((left, right) => left - right));
    expect(new Set(notes.renewed).size).toBe(notes.renewed.length);
    expect(keeping.provenAtMs).toBe(notes.renewed.at(-1));
    expect(keeping.provenAtMs).toBeLessThanOrEqual(session.clock.now());
    const request = LeaseServiceGetRequest.create({ lease: keptOf(granted).lease, read: { consistency: 2 } });
    const { lease } = await session.call("LeaseService.Get", request);
    expect(lease?.holds.map(({ holder, token }) => [holder, token])).toEqual([["a", granted.grant.hold?.token]]);
  });

  it("grants a waiting claim by push when the lease is released, timed from a beat of the wait", async () => {
    await using session = await deployment.open(way);
    await using other = await deployment.open(way);
    const first = only(await session.claim(claimOf("a", [`${way}-queue`], 60_000)));
    const waiting = other.claim(claimOf("b", [`${way}-queue`]), { waitMs: "forever" });
    await waitFor(() => waitersOf(session, `${way}-queue`), { describe: "the claim to wait" });
    const { lease, token } = keptOf(first);
    const releasedAtMs = other.clock.now();
    await session.release([{ lease, token }]);
    const second = only(await waiting);
    // The newest beat that had reached the owner: at most two intervals and a trip old.
    expect(second.sentAtMs).toBeGreaterThan(releasedAtMs - 1_000);
    expect(second.sentAtMs).toBeLessThanOrEqual(other.clock.now());
    expect(second.grant.hold?.token).toBeGreaterThan(token);
  });

  it("ends a wait after its time with WAIT_ENDED", async () => {
    await using session = await deployment.open(way);
    await session.claim(claimOf("a", [`${way}-patience`], 60_000));
    await expect(session.claim(claimOf("b", [`${way}-patience`]), { waitMs: 300 })).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "WAIT_ENDED",
    });
  });

  it("leaves the queue when a wait is aborted, and the next in line is served", async () => {
    await using session = await deployment.open(way);
    await using other = await deployment.open(way);
    const first = only(await session.claim(claimOf("a", [`${way}-abort`], 60_000)));
    const stop = new AbortController();
    const waiting = other.claim(claimOf("b", [`${way}-abort`]), { waitMs: "forever", signal: stop.signal });
    await waitFor(() => waitersOf(session, `${way}-abort`), { describe: "the claim to wait" });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: "TenureError", code: "CANCELLED" });
    await waitFor(async () => !(await waitersOf(session, `${way}-abort`)), { describe: "the queue to be empty" });
    const { lease, token } = keptOf(first);
    await session.release([{ lease, token }]);
    const next = only(await session.claim(claimOf("c", [`${way}-abort`]), { waitMs: 10_000 }));
    expect(next.grant.hold?.holder).toBe("c");
  });

  it("gives back a term that was granted to a claim whose caller had just left", async () => {
    await using session = await deployment.open(way);
    for (let round = 0; round < 5; round += 1) {
      const stop = new AbortController();
      const claim = session.claim(claimOf("a", [`${way}-late`], 60_000), { signal: stop.signal });
      // The message with the claim has left at the end of a turn; nothing is read before the next one.
      for (let end = 0; end < 3; end += 1) await new Promise<void>(atEndOfTurn);
      stop.abort();
      await expect(claim).rejects.toMatchObject({ code: "CANCELLED", applied: "UNKNOWN" });
      await using other = await deployment.open(way);
      const next = only(await other.claim(claimOf("b", [`${way}-late`], 60_000), { waitMs: 20_000 }));
      const { lease, token } = keptOf(next);
      await other.release([{ lease, token }]);
    }
  });

  it("takes several leases of one routing part all or none", async () => {
    await using session = await deployment.open(way);
    const both = await session.claim(claimOf("a", [`${way}-acct:1`, `${way}-acct:2`], 60_000));
    expect(both.map(({ grant }) => grant.lease?.name)).toEqual([`${way}-acct:1`, `${way}-acct:2`]);
    const overlapping = session.claim(claimOf("b", [`${way}-acct:2`, `${way}-acct:3`]));
    await expect(overlapping).rejects.toMatchObject({ reason: "LEASE_HELD" });
    await expect(session.claim(claimOf("b", [`${way}-x`, `${way}-y`]))).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "ROUTING_PARTS_DIFFER",
    });
    expect(only(await session.claim(claimOf("b", [`${way}-acct:3`]))).grant.hold?.holder).toBe("b");
  });

  it("carries a thousand changes at once", async () => {
    await using session = await deployment.open(way);
    const names = Array.from({ length: 1_000 }, (_, index) => `${way}-many-${index}`);
    const granted = await Promise.all(names.map((name) => session.claim(claimOf("a", [name], 60_000)).then(only)));
    expect(new Set(granted.map(({ grant }) => `${grant.hold?.partition}.${grant.hold?.holdId}`)).size).toBe(1_000);
    const releases = await Promise.all(
      granted.map(keptOf).map(({ lease, token }) => session.release([{ lease, token }])),
    );
    expect(releases.every(({ released: [released] }) => released === true)).toBe(true);
  }, 60_000);

  it("does not renew or release a term for another session's key, even of the same principal", async () => {
    await using session = await deployment.open(way);
    await using thief = await deployment.open(way);
    const granted = only(await session.claim(claimOf("a", [`${way}-key`], 60_000)));
    const notes = new Notes();
    using _keeping = thief.keep(keptOf(granted), notes);
    await waitFor(() => notes.refused.length > 0, { describe: "the refusal" });
    expect(notes.refused[0]).toMatchObject({ code: "PERMISSION_DENIED", reason: "RENEW_KEY_MISMATCH" });
    const { lease, token } = keptOf(granted);
    await expect(thief.release([{ lease, token }])).rejects.toMatchObject({ reason: "RENEW_KEY_MISMATCH" });
  });

  it("writes guarded data with the session's key, once per attempt", async () => {
    await using session = await deployment.open(way);
    const { lease, token } = keptOf(only(await session.claim(claimOf("a", [`${way}-guard`], 60_000))));
    const fence = { lease, token, renewKey: session.renewKey };
    const put = (value: string) =>
      session.change("GuardService.Put", (attempt) =>
        GuardServicePutRequest.create({ attempt, fence, key: "k", value: new TextEncoder().encode(value) }),
      );
    const { revision } = await put("one");
    expect((await put("two")).revision).toBeGreaterThan(revision);
    const foreign = { ...fence, renewKey: new Uint8Array(32) };
    await expect(
      session.change("GuardService.Put", (attempt) =>
        GuardServicePutRequest.create({ attempt, fence: foreign, key: "k" }),
      ),
    ).rejects.toMatchObject({ code: "PERMISSION_DENIED", applied: "NO" });
  });

  it("lists every broken rule with its field", async () => {
    await using session = await deployment.open(way);
    const bad = { ...claimOf("a", ["x"]), claims: [LeaseClaim.create({ lease: { namespace: "UPPER", name: "a.*" } })] };
    await expect(session.claim(bad)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "INVALID_FIELD",
      retryable: false,
      details: { field: expect.stringContaining("namespace"), rule: expect.any(String) },
    });
  });

  it("tells a holder that it is asked to finish, and that it need not any more", async () => {
    await using session = await deployment.open(way);
    const granted = only(await session.claim(claimOf("a", [`${way}-ending`], 60_000)));
    const notes = new Notes();
    // One renewal shows the service whose term it is; the next is a minute away, so what is told then is pushed.
    using keeping = session.keep({ ...keptOf(granted), renewIntervalMs: 60_000 }, notes);
    const isRenewed = (): boolean => {
      if (notes.renewed.length === 0) keeping.renewNow();
      return notes.renewed.length > 0;
    };
    await waitFor(isRenewed, { describe: "a renewal", intervalMs: 500 });
    const { lease, token } = keptOf(granted);
    const mark = async (endOfTerm: { token: bigint; preferredHolder: string } | undefined, number: bigint) => {
      const { lease: record } = await session.call("LeaseService.Get", LeaseServiceGetRequest.create({ lease }));
      const attempt = { clientId: `operator-${way}`, number };
      const expectedRevision = record?.revision ?? 0n;
      await deployment.store.markEndOfTerm(
        StoreServiceMarkEndOfTermRequest.create({ attempt, lease, expectedRevision, ...(endOfTerm && { endOfTerm }) }),
      );
    };
    await mark({ token, preferredHolder: "b" }, 1n);
    await waitFor(() => notes.marks.length > 0, { describe: "the mark" });
    expect(notes.marks[0]).toMatchObject({ successor: "b", cleared: false });
    await mark(undefined, 2n);
    await waitFor(() => notes.marks.some(({ cleared }) => cleared), { describe: "its withdrawal" });
    expect(notes.refused).toEqual([]);
    await session.release([{ lease, token }]);
    await waitFor(() => notes.ended.length > 0, { describe: "the end of the term" });
    expect(notes.ended[0]).toMatchObject({ reason: TermEndReason.RELEASED });
  });

  it("streams a watch with bounded credit, to the end that its reader chooses", async () => {
    await using session = await deployment.open(way);
    const request = LeaseServiceWatchRequest.create({
      selectors: [{ namespace: "tests", name: `${way}-watched` }],
    });
    const holders: string[] = [];
    const seen = (async () => {
      for await (const { events } of session.stream("LeaseService.Watch", request, { credit: 2 })) {
        for (const { lease } of events) holders.push(lease?.holds[0]?.holder ?? "");
        if (holders.length >= 10) break;
      }
    })();
    for (let round = 0; round < 5; round += 1) {
      const { lease, token } = keptOf(only(await session.claim(claimOf(`h${round}`, [`${way}-watched`], 60_000))));
      await session.release([{ lease, token }]);
    }
    await seen;
    expect(holders.slice(-10)).toEqual(["h0", "", "h1", "", "h2", "", "h3", "", "h4", ""]);
  });

  it("ends a stream with CANCELLED when its signal is aborted", async () => {
    await using session = await deployment.open(way);
    const stop = new AbortController();
    const request = LeaseServiceWatchRequest.create({ selectors: [{ namespace: "tests", name: "nothing" }] });
    const responses = session.stream("LeaseService.Watch", request, { signal: stop.signal })[Symbol.asyncIterator]();
    await responses.next();
    const next = responses.next();
    stop.abort();
    await expect(next).rejects.toMatchObject({ name: "TenureError", code: "CANCELLED" });
  });
});

/** Whether anyone waits for the lease. */
async function waitersOf(session: Session, name: string): Promise<boolean> {
  const request = LeaseServiceGetRequest.create({ lease: { namespace: "tests", name }, read: { consistency: 2 } });
  const { lease } = await session.call("LeaseService.Get", request);
  return (lease?.waiters ?? 0) > 0;
}
