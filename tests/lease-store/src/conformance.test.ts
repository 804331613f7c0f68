import {
  ChangeKind,
  durationToMs,
  GuardServicePutRequest,
  LeaseServiceAcquireRequest,
  LeaseServiceCreateRequest,
  LeaseServiceDeleteRequest,
  LeaseServiceHistoryRequest,
  LeaseServiceListRequest,
  LeaseServiceUpdateRequest,
  LeaseServiceWatchRequest,
  LeaseSpec,
  TermEndReason,
  timestampToMicros,
  WatchMarkKind,
  WrittenHold,
} from "@tenure/contracts";
import { type Deployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startStores } from "./deployment.ts";
import {
  acquire,
  acquireRequest,
  attempt,
  create,
  duration,
  key,
  labelUpdate,
  read,
  release,
  renew,
} from "./requests.ts";

let deployment: Deployment;

beforeAll(async () => {
  // Few changes are kept, so that a token gets too old within the test.
  deployment = await startStores(2, ["--kept-changes=20"]);
}, 60_000);

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

/** Writes a lease of a second and a half as one who keeps leases itself, with times of its own. */
async function write({ leases }: Deployment, name: string, time: { readonly seconds: bigint; readonly nanos: number }) {
  const writtenHold = { holder: "w", leaseDuration: duration(1_500), renewedAt: time, acquiredAt: time };
  const request = LeaseServiceCreateRequest.fromPartial({ attempt: attempt(), lease: key(name), writtenHold });
  await leases.create(request, { principal: "w" });
}

const held = { code: "FAILED_PRECONDITION", reason: "LEASE_HELD" };

describe("acquire, renew and release", () => {
  it("[1] a first acquire creates the lease with the holder, no transitions, and both times now", async () => {
    await acquire(deployment, "a", "one");
    const lease = await read(deployment, "one");
    expect(lease.transitions).toBe(0);
    expect(lease.holds).toHaveLength(1);
    const [hold] = lease.holds;
    expect(hold?.holder).toBe("a");
    expect(hold?.acquiredAt).toEqual(hold?.renewedAt);
    expect(hold?.acquiredAt).toEqual(lease.createdAt);
  });

  it("[2] only the holder renews: another is refused and the lease stays as it is", async () => {
    const { token } = await acquire(deployment, "a", "two", 60_000);
    const before = await read(deployment, "two");
    await expect(acquire(deployment, "b", "two")).rejects.toMatchObject({ ...held, details: { holder: "a", token } });
    expect((await renew(deployment, "b", "two", token))?.failure).toMatchObject({ code: 7 });
    expect({ ...(await read(deployment, "two")), freeAfter: undefined }).toEqual({ ...before, freeAfter: undefined });
  });

  it("[3] a renewal changes the renewal's time and revision and nothing else", async () => {
    const { token } = await acquire(deployment, "a", "three", 60_000);
    const before = await read(deployment, "three");
    const result = await renew(deployment, "a", "three", token, 7n);
    expect(result).toMatchObject({ sendNumber: 7n, failure: undefined });
    const after = await read(deployment, "three");
    expect(after.renewalRevision).toBe(result?.renewalRevision);
    expect(after.revision).toBe(before.revision);
    expect(after.transitions).toBe(before.transitions);
    expect(after.holds[0]).toEqual({ ...before.holds[0], renewedAt: after.holds[0]?.renewedAt });
  });

  it("[4] a holder that stopped renewing is followed by the next, with one more transition", async () => {
    await acquire(deployment, "a", "four", 1_000);
    const before = await read(deployment, "four");
    await waitFor(
      () =>
        acquire(deployment, "b", "four", 1_000).then(
          () => true,
          () => false,
        ),
      {
        describe: "the term to expire",
      },
    );
    const after = await read(deployment, "four");
    expect(after.holds[0]?.holder).toBe("b");
    expect(after.transitions).toBe(before.transitions + 1);
    const acquiredAt = (lease: typeof after) =>
      timestampToMicros(lease.holds[0]?.acquiredAt ?? { seconds: 0n, nanos: 0 });
    expect(acquiredAt(after) - acquiredAt(before)).toBeGreaterThanOrEqual(1_000_000n);
  });

  it("[5] a term is over when exactly its duration has passed: a claim that waits gets it then, and not before", async () => {
    await acquire(deployment, "a", "five", 1_000);
    const request = {
      ...acquireRequest("b", "five"),
      wait: { timeout: undefined, age: undefined, beatNumber: 0n, supersedesKey: undefined },
    };
    await deployment.leases.acquire(request, { principal: "b" });
    const { transitions } = await deployment.leases.history(
      LeaseServiceHistoryRequest.fromPartial({ lease: key("five") }),
    );
    const ended = transitions.find(({ endReason }) => endReason === TermEndReason.EXPIRED);
    // How long the owner let the term run by its own clock. Rounded to whole milliseconds, as the wire has it.
    const heldForMs = durationToMs(ended?.heldFor ?? duration(0));
    expect(heldForMs).toBeGreaterThanOrEqual(1_000);
    expect(heldForMs).toBeLessThan(10_000);
  });

  it("[6] the record's duration counts, not the claimant's: 2 s are waited for by a claim that says half a second", async () => {
    const { token } = await acquire(deployment, "a", "six", 2_000);
    const lease = await read(deployment, "six");
    expect(lease.holds[0]?.leaseDuration).toEqual(duration(2_000));
    await expect(acquire(deployment, "b", "six", 500)).rejects.toMatchObject({ ...held, details: { token } });
    const refusal = await acquire(deployment, "b", "six", 500).catch((fault) => fault);
    expect(refusal.details.retryAfterMs).toBeGreaterThan(500);
  });

  it("[7] a term counts from when the owner saw it, however old its written times are, and one that is over is free at once", async () => {
    const hoursAgo = { seconds: BigInt(Math.floor(Date.now() / 1_000) - 7_200), nanos: 0 };
    await write(deployment, "seven", hoursAgo);
    const refusal = await acquire(deployment, "b", "seven", 1_000).catch((fault) => fault);
    expect(refusal).toMatchObject({ ...held, details: { holder: "w" } });
    expect(refusal.details.retryAfterMs).toBeGreaterThan(0);
    expect(refusal.details.retryAfterMs).toBeLessThanOrEqual(1_500);
    await waitFor(async () => (await read(deployment, "seven")).holds.length === 0, { describe: "the term to expire" });
    // Expiry is judged by the store, so one that has just come need not watch it for a duration of its own.
    expect((await acquire(deployment, "b", "seven")).hold.holder).toBe("b");
  });

  it.each([
    ["behind", -10_800],
    ["ahead", 10_800],
  ])(
    "[8] a wall clock that is hours %s changes nothing: the term expires after its duration",
    async (name, skewSeconds) => {
      const lease = `eight-${name}`;
      const skewed = { seconds: BigInt(Math.floor(Date.now() / 1_000) + skewSeconds), nanos: 0 };
      await write(deployment, lease, skewed);
      const [hold] = (await read(deployment, lease)).holds;
      expect(hold?.renewedAt).toEqual(skewed);
      await expect(acquire(deployment, "b", lease)).rejects.toMatchObject({ ...held, details: { holder: "w" } });
      await waitFor(async () => (await read(deployment, lease)).holds.length === 0, { describe: "the term to expire" });
      const { lastEndReason } = await read(deployment, lease);
      expect(lastEndReason).toBe(TermEndReason.EXPIRED);
      await acquire(deployment, "b", lease);
    },
  );

  it("[9] after a release the holder is gone, transitions stay, and another acquires at once", async () => {
    const { token } = await acquire(deployment, "a", "nine", 60_000);
    expect(await release(deployment, "a", "nine", token)).toBe(true);
    const free = await read(deployment, "nine");
    expect([free.holds.length, free.transitions, free.lastEndReason]).toEqual([0, 0, TermEndReason.RELEASED]);
    await acquire(deployment, "b", "nine");
  });

  it("[10] an acquire of a free lease that was held before is one more transition", async () => {
    const { token } = await acquire(deployment, "a", "ten");
    await release(deployment, "a", "ten", token);
    await acquire(deployment, "b", "ten");
    expect((await read(deployment, "ten")).transitions).toBe(1);
  });

  it("[11] a release by one who does not hold changes nothing and is no error", async () => {
    const first = await acquire(deployment, "a", "eleven", 60_000);
    await release(deployment, "a", "eleven", first.token);
    await acquire(deployment, "b", "eleven", 60_000);
    const before = await read(deployment, "eleven");
    expect(await release(deployment, "a", "eleven", first.token)).toBe(false);
    expect((await read(deployment, "eleven")).revision).toBe(before.revision);
  });

  it("[12] a release beside the holder's own renewals in flight succeeds", async () => {
    const { token } = await acquire(deployment, "a", "twelve");
    const renewals = [1n, 2n, 3n].map((number) => renew(deployment, "a", "twelve", token, number));
    const released = release(deployment, "a", "twelve", token);
    await Promise.all(renewals);
    expect(await released).toBe(true);
    expect((await read(deployment, "twelve")).holds).toEqual([]);
  });

  it("[13] of many who claim a free lease at once exactly one gets it", async () => {
    const claims = Array.from({ length: 20 }, (_, index) => acquire(deployment, `holder-${index}`, "thirteen", 60_000));
    const outcomes = await Promise.allSettled(claims);
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.reason] : []));
    expect(refused).toEqual(Array.from({ length: 19 }, () => "LEASE_HELD"));
  });
});

describe("the record of a lease", () => {
  it("[14] an update with a stale revision is a conflict, one without any is invalid, and neither changes it", async () => {
    const lease = await create(deployment, "fourteen");
    const revision = lease?.revision ?? 0n;
    await deployment.leases.update(labelUpdate("fourteen", { a: "1" }, { expectedRevision: revision }));
    const stale = labelUpdate("fourteen", { a: "2" }, { expectedRevision: revision });
    await expect(deployment.leases.update(stale)).rejects.toMatchObject({
      code: "ABORTED",
      reason: "REVISION_CONFLICT",
    });
    const blind = labelUpdate("fourteen", { a: "3" });
    await expect(deployment.leases.update(blind)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect((await read(deployment, "fourteen")).spec?.labels).toEqual({ a: "1" });
  });

  it("[15] creating a name that exists is refused", async () => {
    await create(deployment, "fifteen");
    await expect(create(deployment, "fifteen")).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  });

  it("[16] an update of a missing name creates it if it names no uid, and conflicts if it does", async () => {
    const more = { createIfAbsent: true, updateMask: undefined };
    await deployment.leases.update(labelUpdate("sixteen", { a: "1" }, more));
    expect((await read(deployment, "sixteen")).spec?.labels).toEqual({ a: "1" });
    const other = labelUpdate("sixteen-b", {}, { ...more, expectedUid: "123" });
    await expect(deployment.leases.update(other)).rejects.toMatchObject({ code: "ABORTED", reason: "UID_CONFLICT" });
  });

  it("[17] a duration of zero or less is refused at its field, and none is accepted", async () => {
    for (const leaseDuration of [duration(0), { seconds: -1n, nanos: 0 }]) {
      const request = LeaseServiceCreateRequest.fromPartial({ lease: key("seventeen"), spec: { leaseDuration } });
      await expect(deployment.leases.create(request)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        details: { violations: [expect.objectContaining({ field: expect.stringContaining("lease_duration") })] },
      });
    }
    await deployment.leases.create(LeaseServiceCreateRequest.fromPartial({ lease: key("seventeen"), spec: {} }));
  });

  it("[18] transitions are the store's own count from 0 on: no request has a place for a number, negative or not", async () => {
    await write(deployment, "eighteen", { seconds: 1n, nanos: 0 });
    expect((await read(deployment, "eighteen")).transitions).toBe(0);
    const writable = [
      LeaseServiceCreateRequest,
      LeaseServiceUpdateRequest,
      LeaseServiceAcquireRequest,
      WrittenHold,
      LeaseSpec,
    ];
    const fields = writable.flatMap((message) => Object.keys(message.fromPartial({})));
    expect(fields).toContain("leaseDuration");
    expect(fields.filter((field) => /transition/i.test(field))).toEqual([]);
  });

  it.each([
    ["a name that is no DNS-1123 subdomain", { namespace: "conformance", name: "Not_Legal" }],
    ["no namespace", { namespace: "", name: "nineteen" }],
  ])("[19] %s is refused", async (_, lease) => {
    const request = LeaseServiceCreateRequest.fromPartial({ lease });
    await expect(deployment.leases.create(request)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[20] a lease with an empty spec is accepted and free", async () => {
    await deployment.leases.create(LeaseServiceCreateRequest.fromPartial({ lease: key("twenty") }));
    expect((await read(deployment, "twenty")).holds).toEqual([]);
    await acquire(deployment, "a", "twenty");
  });

  it("[21] [22] a written time is shown in microseconds, whatever its digits were", async () => {
    const renewedAt = { seconds: 1_700_000_000n, nanos: 123_456_789 };
    const writtenHold = {
      holder: "w",
      leaseDuration: duration(60_000),
      renewedAt,
      acquiredAt: { ...renewedAt, nanos: 0 },
    };
    const request = LeaseServiceCreateRequest.fromPartial({ lease: key("twenty-one"), writtenHold });
    await deployment.leases.create(request, { principal: "w" });
    const [hold] = (await read(deployment, "twenty-one")).holds;
    expect(hold?.renewedAt).toEqual({ ...renewedAt, nanos: 123_456_000 });
    expect(hold?.acquiredAt).toEqual({ ...renewedAt, nanos: 0 });
  });

  it("[25] a duration with a fraction of a second is honoured exactly, and one below the least is refused, not cut", async () => {
    await acquire(deployment, "a", "twenty-five", 1_250);
    expect((await read(deployment, "twenty-five")).holds[0]?.leaseDuration).toEqual(duration(1_250));
    const refusal = await acquire(deployment, "a", "twenty-five-b", 250).catch((fault) => fault);
    expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(refusal.message).toContain("500ms");
  });

  it("[34] a holder's renewal brings a deleted lease back with its token, acquire time and transitions", async () => {
    const { token } = await acquire(deployment, "a", "thirty-four", 60_000);
    const before = await read(deployment, "thirty-four");
    const lease = key("thirty-four");
    await deployment.leases.delete(LeaseServiceDeleteRequest.fromPartial({ attempt: attempt(), lease }));
    await expect(read(deployment, "thirty-four")).rejects.toMatchObject({ code: "NOT_FOUND" });
    // Rule 15: the term may still be acting, so nobody else gets the name.
    await expect(acquire(deployment, "b", "thirty-four")).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    expect((await renew(deployment, "a", "thirty-four", token))?.failure).toBeUndefined();
    const after = await read(deployment, "thirty-four");
    expect(after.holds[0]).toMatchObject({ token, holder: "a", acquiredAt: before.holds[0]?.acquiredAt });
    expect([after.transitions, after.uid]).toEqual([before.transitions, before.uid]);
  });

  it("[23] a watch from a list's position misses and doubles nothing, and too old a token is told so", async () => {
    await create(deployment, "list-1");
    const selector = { namespace: "conformance", namePrefix: "list-" };
    const { page } = await deployment.leases.list(LeaseServiceListRequest.fromPartial({ selector }));
    const resumeToken = page?.resumeToken ?? new Uint8Array(0);
    for (const name of ["list-2", "list-3", "list-4"]) await create(deployment, name);
    const seen: string[] = [];
    const request = LeaseServiceWatchRequest.fromPartial({ selectors: [selector], options: { resumeToken } });
    for await (const { events } of deployment.leases.watch(request)) {
      for (const { kind, lease } of events)
        seen.push(`${kind === ChangeKind.ADDED ? "added" : kind} ${lease?.key?.name}`);
      if (seen.length >= 3) break;
    }
    expect(seen).toEqual(["added list-2", "added list-3", "added list-4"]);

    const old = new Uint8Array(resumeToken);
    new DataView(old.buffer).setBigUint64(6, 1n);
    const tooOld = LeaseServiceWatchRequest.fromPartial({ selectors: [selector], options: { resumeToken: old } });
    const marks: (WatchMarkKind | undefined)[] = [];
    for await (const { position } of deployment.leases.watch(tooOld)) {
      marks.push(position?.mark?.kind);
      if (position?.mark?.kind === WatchMarkKind.SYNCED) break;
    }
    expect(marks).toEqual([WatchMarkKind.RESYNC, ...marks.slice(1, -1), WatchMarkKind.SYNCED]);
    const strict = LeaseServiceWatchRequest.fromPartial({ ...tooOld, options: { resumeToken: old, failOnGap: true } });
    await expect(deployment.leases.watch(strict)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "OUT_OF_RANGE",
      reason: "RESUME_TOKEN_TOO_OLD",
    });
  });
});

describe("fencing", () => {
  it("[37] tokens grow with every new term, across release, deletion and re-creation, and a renewal keeps its own", async () => {
    const tokens: bigint[] = [];
    for (const holder of ["a", "b", "c"]) {
      const { token } = await acquire(deployment, holder, "thirty-seven");
      tokens.push(token);
      await renew(deployment, holder, "thirty-seven", token);
      expect((await read(deployment, "thirty-seven")).holds[0]?.token).toBe(token);
      await release(deployment, holder, "thirty-seven", token);
      const lease = key("thirty-seven");
      await deployment.leases.delete(LeaseServiceDeleteRequest.fromPartial({ attempt: attempt(), lease }));
    }
    const [first = 0n, second = 0n, third = 0n] = tokens;
    expect([second > first, third > second]).toEqual([true, true]);
  });

  it("[38] a guarded write with the present token is accepted, with an older one refused as fenced", async () => {
    const first = await acquire(deployment, "a", "thirty-eight");
    const put = (principal: string, token: bigint, text: string) => {
      const fence = { lease: key("thirty-eight"), token };
      const value = new TextEncoder().encode(text);
      const request = GuardServicePutRequest.fromPartial({ attempt: attempt(), fence, key: "k", value });
      return deployment.guards.put(request, { principal });
    };
    await put("a", first.token, "of a");
    await release(deployment, "a", "thirty-eight", first.token);
    const second = await acquire(deployment, "b", "thirty-eight");
    // Late, and before the new holder has written anything.
    await expect(put("a", first.token, "late")).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "FENCED",
      details: { token: second.token },
    });
    await put("b", second.token, "of b");
    const { value } = await deployment.guards.get({ lease: key("thirty-eight"), key: "k", read: undefined });
    expect([new TextDecoder().decode(value?.value), value?.token]).toEqual(["of b", second.token]);
  });

  it("[39] what a client writes cannot lower the token or the transitions", async () => {
    const first = await acquire(deployment, "a", "thirty-nine");
    await release(deployment, "a", "thirty-nine", first.token);
    const { revision, transitions } = await read(deployment, "thirty-nine");
    const request = LeaseServiceUpdateRequest.fromPartial({
      attempt: attempt(),
      lease: key("thirty-nine"),
      expectedRevision: revision,
      updateMask: ["labels"],
      spec: {},
      writtenHold: { holder: "w", leaseDuration: duration(60_000) },
    });
    await deployment.leases.update(request, { principal: "w" });
    const after = await read(deployment, "thirty-nine");
    expect(after.holds[0]?.token).toBeGreaterThan(first.token);
    expect(after.transitions).toBe(transitions + 1);
  });
});

describe("a waiting claim", () => {
  it("is granted by push when the lease is released", async () => {
    const { token } = await acquire(deployment, "a", "wait", 60_000);
    const request = {
      ...acquireRequest("b", "wait"),
      wait: { timeout: undefined, age: undefined, beatNumber: 0n, supersedesKey: undefined },
    };
    const waiting = deployment.leases.acquire(request, { principal: "b" });
    await waitFor(async () => (await read(deployment, "wait")).waiters === 1, { describe: "the claim to wait" });
    await release(deployment, "a", "wait", token);
    const { grants } = await waiting;
    expect(grants[0]?.hold?.holder).toBe("b");
    expect(grants[0]?.hold?.token).toBeGreaterThan(token);
  });

  it("leaves the queue when its caller gives up", async () => {
    await acquire(deployment, "a", "gone", 60_000);
    const request = {
      ...acquireRequest("b", "gone"),
      wait: { timeout: undefined, age: undefined, beatNumber: 0n, supersedesKey: undefined },
    };
    const gone = new AbortController();
    const waiting = deployment.leases.acquire(request, { principal: "b", signal: gone.signal });
    waiting.catch(() => undefined);
    await waitFor(async () => (await read(deployment, "gone")).waiters === 1, { describe: "the claim to wait" });
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    await waitFor(async () => (await read(deployment, "gone")).waiters === 0, { describe: "the queue to be empty" });
  });
});
