import {
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceReleaseRequest,
  LeaseServiceRenewRequest,
  LeaseServiceRenewResponse,
} from "@tenure/contracts";
import { emptyPartition } from "@tenure/core";
import { FakeClock, Fault, faultCodes } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { ShardKeeper, shardTiming } from "./shard-keeper.ts";

const unavailable = () => new Fault({ code: "UNAVAILABLE", reason: "OWNER_AWAY", message: "the store is away" });

/** A keeper of two shards, alone, at a store that does what the test says. */
function keeping(leaseDurationMs = 5_000) {
  const clock = new FakeClock({ startMs: 1_000 });
  const state = emptyPartition(0, clock.now());
  const store = {
    isAway: false,
    acquireDeadlineMs: 0,
    isRefusing: false,
    token: 10n,
    released: [] as bigint[],
    renewals: 0,
    /** What renewals are answered after. */
    gate: Promise.resolve(),
  };
  const told: string[] = [];
  const answer = <Answer>(make: () => Answer): Promise<Answer> =>
    store.isAway ? Promise.reject(unavailable()) : Promise.resolve(make());
  const keeper = new ShardKeeper({
    store: {
      acquire: (request, { deadlineMs }) =>
        answer(() => {
          const { claims } = LeaseServiceAcquireRequest.fromPartial(request);
          store.acquireDeadlineMs = deadlineMs;
          store.token += 1n;
          return LeaseServiceAcquireResponse.fromPartial({
            grants: claims.map(() => ({ hold: { token: store.token } })),
          });
        }),
      renew: async (request) => {
        await store.gate;
        return answer(() => {
          const { renewals } = LeaseServiceRenewRequest.fromPartial(request);
          store.renewals += 1;
          const failure = store.isRefusing ? { failure: { code: faultCodes.FAILED_PRECONDITION } } : {};
          const results = renewals.map(({ sendNumber }) => ({ sendNumber, ...failure }));
          return LeaseServiceRenewResponse.fromPartial({ results });
        });
      },
      release: (request) =>
        answer(() => {
          const { items } = LeaseServiceReleaseRequest.fromPartial(request);
          store.released.push(...items.map(({ token }) => token));
          return { released: items.map(() => true), revision: 1n };
        }),
    },
    clock,
    instance: "me",
    principal: "election",
    shards: 2,
    partitions: 1,
    leaseDurationMs,
    stateOf: () => state,
    isReady: () => true,
    peers: () => ["me"],
    onTaken: (shard) => told.push(`taken ${shard}`),
    onRegained: (shard) => told.push(`regained ${shard}`),
    onLost: (shard) => told.push(`lost ${shard}`),
  });
  return { clock, keeper, store, told };
}

describe("the keeper of shards", () => {
  it("[90] coordinates what it holds, renews all with one call, and hands over when it stops", async () => {
    const { clock, keeper, store, told } = keeping();
    await clock.advance(0);
    expect(told.toSorted()).toEqual(["taken 0", "taken 1"]);
    expect(keeper.size).toBe(2);
    expect(store.acquireDeadlineMs, "a late answer counts").toBe(shardTiming(5_000).usableTermMs);
    await clock.advance(10_000);
    expect(keeper.size).toBe(2);
    expect(store.renewals).toBeLessThan(20);
    await keeper[Symbol.asyncDispose]();
    expect(store.released.toSorted()).toEqual([11n, 12n]);
    expect(keeper.size).toBe(0);
  });

  it("[90] ceases by its own clock when it cannot renew, before another can hold, and wins again without a restart", async () => {
    const { clock, keeper, store } = keeping();
    const { leaseDurationMs, renewIntervalMs, usableTermMs } = shardTiming(5_000);
    await clock.advance(0);
    store.isAway = true;
    await clock.advance(usableTermMs - 1);
    expect(keeper.holds(0)).toBe(true);
    await clock.advance(1);
    expect(keeper.holds(0), "from the send of the last renewal that was answered").toBe(false);
    expect(usableTermMs).toBeLessThan(leaseDurationMs);
    store.isAway = false;
    await clock.advance(2 * renewIntervalMs);
    expect(keeper.size).toBe(2);
    await keeper[Symbol.asyncDispose]();
  });

  it("says when a late answer gives a shard back that had lapsed, because nobody heeded its leases meanwhile", async () => {
    const { clock, keeper, store, told } = keeping();
    await clock.advance(0);
    let open = () => {};
    store.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    await clock.advance(shardTiming(5_000).usableTermMs);
    expect(keeper.size).toBe(0);
    expect(told).not.toContain("lost 0");
    open();
    await clock.advance(0);
    expect(keeper.size).toBe(2);
    expect(told.toSorted()).toEqual(["regained 0", "regained 1", "taken 0", "taken 1"]);
    await keeper[Symbol.asyncDispose]();
  });

  it("names the shards that nobody has had for long, also while it tries to take them", async () => {
    const { clock, keeper, store } = keeping();
    store.isAway = true;
    await clock.advance(14_000);
    expect(keeper.freeFor(15_000)).toEqual([]);
    await clock.advance(2_000);
    expect(keeper.freeFor(15_000)).toEqual([0, 1]);
    store.isAway = false;
    await clock.advance(2 * shardTiming(5_000).renewIntervalMs);
    expect(keeper.freeFor(0)).toEqual([]);
    await keeper[Symbol.asyncDispose]();
  });

  it("[90] ceases at once when a renewal is refused: another holds the shard", async () => {
    const { clock, keeper, store, told } = keeping();
    await clock.advance(0);
    store.isRefusing = true;
    await clock.advance(shardTiming(5_000).renewIntervalMs);
    expect(told).toContain("lost 0");
    store.isRefusing = false;
    await keeper[Symbol.asyncDispose]();
  });
});
