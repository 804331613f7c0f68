import {
  CallFailure,
  encodeRenewals,
  LeaseServiceKeepAliveRequest,
  LeaseServiceRenewRequest,
  LeaseServiceRenewResponse,
  type RenewalResult,
  StoreServiceRenewRequest,
  StoreServiceRenewResponse,
} from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";
import { RenewalCoalescer } from "@tenure/session";
import { describe, expect, it } from "vitest";
import { KeepAlive, type KeepAliveServices } from "./keep-alive.ts";

interface Asked {
  readonly name: string;
  readonly request: Uint8Array;
  answer(outcome: Uint8Array | Fault): void;
}

/** A client of one lease whose term is hold 7 of partition 3. */
function setUp() {
  const asked: Asked[] = [];
  const store: KeepAliveServices["store"] = {
    hasPartition: () => true,
    startAtOwner(name, _partition, request, _options, done) {
      asked.push({ name, request, answer: done });
      return { cancel: () => {} };
    },
  };
  const results: RenewalResult[] = [];
  /** Whether it was idle each time it told something: a client that has closed its side is left then. */
  const idleAtSend: boolean[] = [];
  const keepAlive: KeepAlive = new KeepAlive(
    { store, renewals: new RenewalCoalescer(store), partitions: 8, holdOf: () => ({ holdId: 7, partition: 3 }) },
    "ann",
    (message) => {
      results.push(...message.results);
      idleAtSend.push(keepAlive.isIdle);
    },
  );
  const renew = (...sendNumbers: readonly bigint[]) =>
    keepAlive.receive(
      LeaseServiceKeepAliveRequest.fromPartial({
        renewals: sendNumbers.map((sendNumber) => ({ lease: { namespace: "n", name: "x" }, token: 4n, sendNumber })),
      }),
    );
  return { asked, idleAtSend, keepAlive, renew, results };
}

/** Refuses renewals of a packed call, by their send numbers. */
function refuse(call: Asked | undefined, reasons: Readonly<Record<number, string>>): void {
  const refusals = Object.entries(reasons).map(([sendNumber, reasonName]) => {
    const failure = CallFailure.fromPartial({ detail: { reasonName } });
    return { holdId: 7n, partition: 3, sendNumber: BigInt(sendNumber), failure };
  });
  const answer = { results: [{ acks: new Uint8Array(0), refusals, endings: [] }], renewalRevision: 0n };
  call?.answer(StoreServiceRenewResponse.encode(answer).finish());
}

/** Commits all renewals of a packed call. */
function commit(call: Asked | undefined): void {
  const { sources } = StoreServiceRenewRequest.decode(call?.request ?? new Uint8Array(0));
  const results = sources.map(({ renewals }) => ({ acks: renewals, refusals: [], endings: [] }));
  call?.answer(StoreServiceRenewResponse.encode({ results, renewalRevision: 9n }).finish());
}

describe("KeepAlive", () => {
  it("renews a term that the log knows packed, and answers with the number that was committed", () => {
    const { asked, renew, results } = setUp();
    renew(5n);
    expect(StoreServiceRenewRequest.decode(asked[0]?.request ?? new Uint8Array(0)).sources[0]?.renewals).toEqual(
      encodeRenewals([{ partition: 3, sendNumber: 5, holdIds: [7] }]),
    );
    commit(asked[0]);
    expect(results).toEqual([expect.objectContaining({ token: 4n, sendNumber: 5n, renewalRevision: 9n })]);
  });

  it.each([0n, 5n])("gives each of two renewals with the number %d the answer of its own commit", (sendNumber) => {
    const { asked, renew, results } = setUp();
    renew(sendNumber);
    renew(sendNumber);
    commit(asked[0]);
    expect(results).toHaveLength(1);
    expect(asked[1]?.name).toBe("LeaseService.Renew");
    const { renewals } = LeaseServiceRenewRequest.decode(asked[1]?.request ?? new Uint8Array(0));
    expect(renewals).toEqual([expect.objectContaining({ token: 4n, sendNumber })]);
    const own = [{ token: 4n, sendNumber, renewalRevision: 12n }];
    asked[1]?.answer(
      LeaseServiceRenewResponse.encode(LeaseServiceRenewResponse.fromPartial({ results: own })).finish(),
    );
    expect(results[1]).toMatchObject({ renewalRevision: 12n });
  });

  it("asks by name how a term ended that the log here still shows, and is not idle before it knows", () => {
    const { asked, idleAtSend, renew, results } = setUp();
    renew(5n, 6n);
    refuse(asked[0], { 5: "TERM_EXPIRED", 6: "REVOKED" });
    expect(results.map(({ failure }) => failure?.detail?.reasonName)).toEqual(["REVOKED"]);
    expect([asked[1]?.name, idleAtSend]).toEqual(["LeaseService.Renew", [false]]);
    results.length = 0;
    const own = [{ token: 4n, failure: { detail: { reasonName: "FENCED" } } }];
    asked[1]?.answer(
      LeaseServiceRenewResponse.encode(LeaseServiceRenewResponse.fromPartial({ results: own })).finish(),
    );
    expect(results).toMatchObject([{ token: 4n, failure: { detail: { reasonName: "FENCED" } } }]);
  });

  it("asks by name for no more than one call takes, and tells of the rest what it knows", () => {
    const { asked, renew, results } = setUp();
    const numbers = Array.from({ length: 1_001 }, (_, at) => at + 1);
    renew(...numbers.slice(0, 1_000).map(BigInt));
    renew(1_001n);
    refuse(asked[0], Object.fromEntries(numbers.map((number) => [number, "TERM_EXPIRED"])));
    const byName = asked.filter(({ name }) => name === "LeaseService.Renew");
    const sizes = byName.map(({ request }) => LeaseServiceRenewRequest.decode(request).renewals.length);
    expect([sizes, results.length]).toEqual([[1_000], 1]);
  });

  it("is idle when every renewal was answered", () => {
    const { asked, keepAlive, renew } = setUp();
    expect(keepAlive.isIdle).toBe(true);
    renew(5n, 5n);
    expect(asked.map(({ name }) => name)).toEqual(["StoreService.Renew", "LeaseService.Renew"]);
    commit(asked[0]);
    expect(keepAlive.isIdle).toBe(false);
    asked[1]?.answer(new Uint8Array(0));
    expect(keepAlive.isIdle).toBe(true);
  });

  it("has a bounded number of calls by name under way", () => {
    const { asked, renew, results } = setUp();
    for (let at = 0; at < 258; at += 1) renew(0n);
    expect(asked).toHaveLength(257);
    expect(results.map(({ failure }) => failure?.detail?.limit?.name)).toEqual(["open-calls-per-stream"]);
  });
});
