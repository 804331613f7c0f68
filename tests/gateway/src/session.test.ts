import { decodeRenewals, encodeRenewals, LeaseServiceAcquireRequest, LeaseServiceDefinition } from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim, key, leases, releaseOf, seconds, settled, take } from "./requests.ts";
import { TestSession } from "./test-session.ts";

const { acquire, release } = LeaseServiceDefinition.methods;

let deployment: Deployment;
let clients = 0;
let address: string;

beforeAll(async () => {
  deployment = await startDeployment({ services: { "lease-store": 2, gateway: 1 } });
  address = deployment.grpc("gateway-1");
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

async function openSession(hello: object = {}) {
  clients += 1;
  return await TestSession.open(address, `client-${clients}`, hello);
}

describe("a session", () => {
  it("greets, acquires and releases, and names the send that was granted", async () => {
    using session = await openSession();
    expect(session.messages[0]?.welcome).toMatchObject({ instance: "gateway-1", principal: "anonymous" });
    const { grant, hold } = await take(session, "round-trip", "a");
    expect(grant?.sendNumber).toBe(2n);
    expect(hold).toMatchObject({ holder: "a", principal: "anonymous" });
    const { released } = await session.call(leases, release, releaseOf(session, "round-trip", hold.token));
    expect(released).toEqual([true]);
    await session.close();
    expect(session.error).toBeUndefined();
  });

  it("carries many calls in one message and their replies in few", async () => {
    using session = await openSession();
    const calls = Array.from({ length: 500 }, (_, index) => ({
      number: BigInt(index + 1),
      method: "LeaseService.Acquire",
      request: LeaseServiceAcquireRequest.encode(
        LeaseServiceAcquireRequest.fromPartial({
          claims: [{ lease: key(`many-${index}`) }],
          claimant: { holder: "many" },
        }),
      ).finish(),
    }));
    session.send({ calls });
    await waitFor(() => session.replies.length === 500, { describe: "500 replies" });
    expect(session.replies.every(({ end, outcome }) => end && outcome?.$case === "response")).toBe(true);
    expect(session.messages.length).toBeLessThan(300);
  });

  it("renews many terms in one message and acknowledges the send numbers that were committed", async () => {
    using session = await openSession();
    const names = Array.from({ length: 40 }, (_, index) => `renewed-${index}`);
    const holds = await Promise.all(names.map(async (name) => (await take(session, name, "r")).hold));
    const sendNumber = Number(session.sendNumber + 1n);
    const groups = [...new Set(holds.map(({ partition }) => partition))].map((partition) => ({
      partition,
      sendNumber,
      holdIds: holds
        .filter((hold) => hold.partition === partition)
        .map(({ holdId }) => Number(holdId))
        .sort((left, right) => left - right),
    }));
    session.send({ renewals: encodeRenewals(groups) });
    const acked = () => session.acks.flatMap((packed) => decodeRenewals(packed));
    await waitFor(() => acked().reduce((sum, { holdIds }) => sum + holdIds.length, 0) === 40);
    expect(acked().toSorted((left, right) => left.partition - right.partition)).toEqual(
      groups.toSorted((left, right) => left.partition - right.partition),
    );
    expect(session.refusals).toEqual([]);
  });

  it("refuses the renewal of an unknown hold and of a partition that does not exist, and renews the rest", async () => {
    using session = await openSession();
    const { hold } = await take(session, "mixed", "m");
    const holdId = Number(hold.holdId);
    const groups = [
      { partition: hold.partition, sendNumber: 9, holdIds: [holdId, holdId + 1_000_000] },
      { partition: 99, sendNumber: 9, holdIds: [5] },
    ];
    session.send({ renewals: encodeRenewals(groups) });
    await waitFor(() => session.acks.length === 1 && session.refusals.length === 2);
    expect(session.acks.flatMap((packed) => decodeRenewals(packed))).toEqual([
      { partition: hold.partition, sendNumber: 9, holdIds: [holdId] },
    ]);
    const refused = session.refusals.map(({ failure, holdId: id }) => [Number(id), failure?.detail?.reasonName]);
    expect(refused.toSorted()).toEqual(
      [
        [5, "INVALID_FIELD"],
        [holdId + 1_000_000, "TERM_EXPIRED"],
      ].toSorted(),
    );
  });

  it("grants a wait when the lease is released, naming its claim or a later beat", async () => {
    using holder = await openSession();
    using waiter = await openSession();
    const { hold } = await take(holder, "waited", "first");
    const waiting = waiter.begin(leases, acquire, claim(waiter, "waited", "second", { wait: {} }));
    await settled(waiter, "waited");
    const beat = waiter.send({});
    await settled(waiter, "waited");
    expect(waiter.messages.at(-1)?.receivedNumber).toBeGreaterThanOrEqual(beat);
    await holder.call(leases, release, releaseOf(holder, "waited", hold.token));
    const { grants } = await waiter.response(waiting, acquire);
    expect(grants[0]?.hold?.holder).toBe("second");
    expect(grants[0]?.sendNumber).toBeGreaterThanOrEqual(2n);
  });

  it("takes a cancelled wait out of its queue", async () => {
    using holder = await openSession();
    using gone = await openSession();
    using next = await openSession();
    const { hold } = await take(holder, "cancelled", "first");
    const abandoned = gone.begin(leases, acquire, claim(gone, "cancelled", "gone", { wait: {} }));
    const waiting = next.begin(leases, acquire, claim(next, "cancelled", "next", { wait: {} }));
    await Promise.all([settled(gone, "cancelled"), settled(next, "cancelled")]);
    gone.send({ cancels: [abandoned] });
    await settled(gone, "cancelled");
    await holder.call(leases, release, releaseOf(holder, "cancelled", hold.token));
    const { grants } = await next.response(waiting, acquire);
    expect(grants[0]?.hold?.holder).toBe("next");
    expect(gone.replies.map(({ number }) => number)).not.toContain(abandoned);
  });

  it("keeps a wait across the death of its owner", async () => {
    using holder = await openSession();
    using waiter = await openSession();
    const { hold } = await take(holder, "orphaned", "first");
    const waiting = waiter.begin(leases, acquire, claim(waiter, "orphaned", "second", { wait: {} }));
    const beating = setInterval(() => {
      waiter.send({});
      holder.send({});
    }, 300);
    try {
      const partition = partitionOf("gateway/orphaned", 8);
      const owner = deployment.ownerOf(partition);
      await deployment.kill(owner);
      await waitFor(() => deployment.ownerOf(partition) !== owner, { timeoutMs: 30_000, describe: "another owner" });
      const { released } = await holder.call(leases, release, releaseOf(holder, "orphaned", hold.token), {
        timeout: seconds(20),
      });
      expect(released).toEqual([true]);
      const { grants } = await waiter.response(waiting, acquire);
      expect(grants[0]?.hold?.holder).toBe("second");
    } finally {
      clearInterval(beating);
      await deployment.start("lease-store", "store-3");
      await deployment.ready();
    }
  });
});
