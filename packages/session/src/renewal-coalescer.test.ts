import {
  decodeRenewals,
  type EndingHold,
  encodeRenewals,
  mostHoldsPerCall,
  type PackedRefusal,
  StoreServiceRenewRequest,
  StoreServiceRenewResponse,
} from "@tenure/contracts";
import { FakeClock, Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { RenewalCoalescer } from "./renewal-coalescer.ts";
import { joinPacked, packedGroups } from "./renewal-groups.ts";
import { type OwnerCall, OwnerDesk } from "./testing/owner-desk.ts";

class TestClient {
  readonly principal: string;
  readonly renewKeyHash = new Uint8Array(0);
  readonly acked: Uint8Array[] = [];
  readonly refused: PackedRefusal[] = [];
  readonly endings: EndingHold[] = [];

  constructor(principal: string) {
    this.principal = principal;
  }

  onRenewed(acks: Uint8Array, endings: readonly EndingHold[]): void {
    this.acked.push(acks);
    this.endings.push(...endings);
  }

  onRefused(refusals: readonly PackedRefusal[]): void {
    this.refused.push(...refusals);
  }
}

const group = (partition: number, sendNumber: number, holdIds: readonly number[]) => ({
  partition,
  sendNumber,
  holdIds,
});
const packed = (...groups: ReturnType<typeof group>[]) => packedGroups(encodeRenewals(groups));
const sourcesOf = (call: OwnerCall | undefined) =>
  StoreServiceRenewRequest.decode(call?.request ?? new Uint8Array(0)).sources;
const holdsOf = (call: OwnerCall | undefined) =>
  sourcesOf(call).map(({ principal, renewals }) => [principal, decodeRenewals(renewals)]);
const commitAll = (call: OwnerCall | undefined) => {
  const results = sourcesOf(call).map(({ renewals }) => ({ acks: renewals, refusals: [], endings: [] }));
  call?.answer(StoreServiceRenewResponse.encode({ results, renewalRevision: 5n }).finish());
};

describe("RenewalCoalescer", () => {
  it("has one call per partition under way, and sends what gathered meanwhile in the next", () => {
    const desk = new OwnerDesk();
    const renewals = new RenewalCoalescer(desk);
    const [a, b, c] = ["a", "b", "c"].map((name) => new TestClient(name)) as [TestClient, TestClient, TestClient];
    renewals.renew(a, packed(group(1, 10, [1]), group(2, 10, [5])));
    renewals.renew(b, packed(group(1, 20, [2])));
    renewals.renew(c, packed(group(1, 30, [3])));
    renewals.renew(b, packed(group(1, 21, [2])));
    expect(desk.calls.map(({ name, partition }) => [name, partition])).toEqual([
      ["StoreService.Renew", 1],
      ["StoreService.Renew", 2],
    ]);
    expect(renewals.queuedHolds).toBe(3);
    commitAll(desk.calls[0]);
    expect(desk.calls).toHaveLength(3);
    expect(holdsOf(desk.calls[2])).toEqual([
      ["b", [group(1, 20, [2]), group(1, 21, [2])]],
      ["c", [group(1, 30, [3])]],
    ]);
    expect([a.acked.length, b.acked.length]).toEqual([1, 0]);
    commitAll(desk.calls[2]);
    expect(decodeRenewals(b.acked[0] ?? new Uint8Array(0))).toEqual([group(1, 20, [2]), group(1, 21, [2])]);
    expect(renewals.queuedHolds).toBe(0);
  });

  it("sends renewals that are in no hurry together, a while after the first", async () => {
    const clock = new FakeClock();
    const desk = new OwnerDesk();
    const renewals = new RenewalCoalescer(desk, { clock, gatherMs: 250, deadlineMs: 5_000 });
    renewals.renew(new TestClient("a"), packed(group(1, 10, [1])));
    await clock.advance(200);
    renewals.renew(new TestClient("b"), packed(group(1, 20, [2])));
    expect(desk.calls).toEqual([]);
    await clock.advance(50);
    expect(holdsOf(desk.calls[0])).toEqual([
      ["a", [group(1, 10, [1])]],
      ["b", [group(1, 20, [2])]],
    ]);
    expect([desk.calls.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it("passes on exactly what the owner says of each client: acknowledged, refused, ending", () => {
    const desk = new OwnerDesk();
    const client = new TestClient("a");
    new RenewalCoalescer(desk).renew(client, packed(group(1, 10, [1, 2, 3])));
    const acks = encodeRenewals([group(1, 10, [1, 3])]);
    const refusal = { holdId: 2n, partition: 1, sendNumber: 10n, failure: undefined };
    const results = [{ acks, refusals: [refusal], endings: [{ holdId: 3n, successor: "next" }] }];
    desk.calls[0]?.answer(StoreServiceRenewResponse.encode({ results, renewalRevision: 5n }).finish());
    expect(client.acked).toEqual([acks]);
    expect([client.refused, client.endings]).toEqual([[refusal], [{ holdId: 3n, successor: "next" }]]);
  });

  it.each([
    ["a deadline", new Fault({ code: "DEADLINE_EXCEEDED", reason: "DEADLINE_EXCEEDED", message: "late" })],
    ["an answer that cannot be read", Uint8Array.of(0xff)],
    ["an answer for fewer clients", new Uint8Array(0)],
  ])("after %s says of every hold that nothing is known, and goes on", (_, outcome) => {
    const desk = new OwnerDesk();
    const renewals = new RenewalCoalescer(desk);
    const client = new TestClient("a");
    renewals.renew(client, packed(group(1, 10, [1, 2])));
    renewals.renew(client, packed(group(1, 11, [1, 2])));
    desk.calls[0]?.answer(outcome);
    expect(client.acked).toEqual([]);
    expect(client.refused.map(({ failure, holdId, sendNumber }) => [holdId, sendNumber, failure?.code])).toEqual([
      [1n, 10n, 14],
      [2n, 10n, 14],
    ]);
    commitAll(desk.calls[1]);
    expect(client.acked).toHaveLength(1);
  });

  it("refuses holds of a partition that does not exist and sends nothing for them", () => {
    const desk = new OwnerDesk();
    const client = new TestClient("a");
    new RenewalCoalescer(desk).renew(client, packed(group(99, 10, [1])));
    expect(desk.calls).toEqual([]);
    expect(client.refused[0]?.failure?.detail?.reasonName).toBe("INVALID_FIELD");
  });

  it("spreads more holds than one call takes over several", () => {
    const desk = new OwnerDesk();
    const client = new TestClient("a");
    const many = Array.from({ length: mostHoldsPerCall * 2 + 5 }, (_, index) => index + 1);
    new RenewalCoalescer(desk).renew(client, packed(group(1, 10, many)));
    for (let at = 0; at < 3; at += 1) commitAll(desk.calls[at]);
    const sizes = desk.calls.map(
      (call) => decodeRenewals(sourcesOf(call)[0]?.renewals ?? new Uint8Array(0))[0]?.holdIds.length,
    );
    expect(sizes).toEqual([mostHoldsPerCall, mostHoldsPerCall, 5]);
    expect(decodeRenewals(joinPacked(client.acked)).flatMap(({ holdIds }) => holdIds)).toEqual(many);
  });

  it("lets no client wait for more than one call of another's, however much that one sends", () => {
    const desk = new OwnerDesk();
    const renewals = new RenewalCoalescer(desk);
    const [greedy, modest] = [new TestClient("greedy"), new TestClient("modest")];
    const many = Array.from({ length: mostHoldsPerCall * 4 }, (_, index) => index + 1);
    renewals.renew(greedy, packed(group(1, 10, many)));
    renewals.renew(modest, packed(group(1, 20, [1])));
    for (let at = 0; at < 3; at += 1) commitAll(desk.calls[at]);
    expect(modest.acked).toHaveLength(1);
  });

  it("refuses what one client sends beyond its share of the queue, and takes another's", () => {
    const desk = new OwnerDesk();
    const renewals = new RenewalCoalescer(desk);
    const [greedy, modest] = [new TestClient("greedy"), new TestClient("modest")];
    const many = Array.from({ length: mostHoldsPerCall }, (_, index) => index + 1);
    for (let at = 1; at <= 20; at += 1) renewals.renew(greedy, packed(group(1, at, many)));
    renewals.renew(modest, packed(group(1, 1, [1])));
    const limits = new Set(greedy.refused.map(({ failure }) => failure?.detail?.limit?.name));
    expect(limits).toEqual(new Set(["queued-renewals-per-client"]));
    expect([greedy.refused.length, modest.refused.length]).toEqual([3 * mostHoldsPerCall, 0]);
  });
});

describe("packedGroups", () => {
  it("refuses what is no packed form", () => {
    expect(() => packedGroups(Uint8Array.of(1, 2, 3))).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(packedGroups(new Uint8Array(0))).toEqual([]);
  });

  it("spaces calls that several clients share, and none of one client alone", async () => {
    const desk = new OwnerDesk();
    const clock = new FakeClock();
    const renewals = new RenewalCoalescer(desk, { clock, companyMs: 20 });
    const [a, b] = [new TestClient("a"), new TestClient("b")];
    for (let sendNumber = 1; sendNumber <= 3; sendNumber += 1) {
      renewals.renew(a, packed(group(1, sendNumber, [1])));
      expect(desk.calls).toHaveLength(sendNumber);
      if (sendNumber < 3) commitAll(desk.calls[sendNumber - 1]);
    }
    for (const client of [a, b]) renewals.renew(client, packed(group(1, 4, [2])));
    commitAll(desk.calls[2]);
    expect(sourcesOf(desk.calls[3])).toHaveLength(2);
    commitAll(desk.calls[3]);
    renewals.renew(a, packed(group(1, 5, [1])));
    await clock.advance(19);
    renewals.renew(b, packed(group(1, 5, [2])));
    expect(desk.calls).toHaveLength(4);
    await clock.advance(1);
    expect(holdsOf(desk.calls[4])).toEqual([
      ["a", [group(1, 5, [1])]],
      ["b", [group(1, 5, [2])]],
    ]);
    expect(clock.pendingTimers).toBe(0);
  });
});
