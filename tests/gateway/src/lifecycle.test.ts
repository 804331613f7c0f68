import { decodeRenewals, encodeRenewals, LeaseServiceDefinition } from "@tenure/contracts";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim, key, leases, releaseOf, settled, take } from "./requests.ts";
import { TestSession } from "./test-session.ts";

const { acquire, get, release } = LeaseServiceDefinition.methods;

let deployment: Deployment;

beforeAll(async () => {
  deployment = await startDeployment({ services: { "lease-store": 1, gateway: 2 } });
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

/** Renews one hold on a session and resolves with the send numbers that were acknowledged. */
async function renew(session: TestSession, hold: { holdId: bigint; partition: number }) {
  const sendNumber = Number(session.sendNumber + 1n);
  const group = { partition: hold.partition, sendNumber, holdIds: [Number(hold.holdId)] };
  session.acks.length = 0;
  session.refusals.length = 0;
  session.send({ renewals: encodeRenewals([group]) });
  await waitFor(() => session.acks.length + session.refusals.length > 0, { describe: "an answer to the renewal" });
  return { acked: session.acks.flatMap((packed) => decodeRenewals(packed)), group };
}

describe("a session", () => {
  it("survives a restart of NATS: its wait is granted and its renewals are committed afterwards", async () => {
    using holder = await TestSession.open(deployment.grpc("gateway-1"), "nats-holder");
    using waiter = await TestSession.open(deployment.grpc("gateway-1"), "nats-waiter");
    const { hold } = await take(holder, "outlived", "h");
    const waiting = waiter.begin(leases, acquire, claim(waiter, "outlived", "w", { wait: {} }));
    await settled(waiter, "outlived");
    await deployment.nats.kill9();
    const beating = setInterval(() => {
      waiter.send({});
      holder.send({});
    }, 300);
    try {
      const lost = await renew(holder, hold);
      expect(lost.acked).toEqual([]);
      expect(holder.refusals[0]?.failure?.code).toBe(14);
      await deployment.nats.restart();
      await waitFor(async () => (await renew(holder, hold)).acked.length > 0, { timeoutMs: 60_000 });
      const items = releaseOf(holder, "outlived", hold.token);
      const { released } = await holder.call(leases, release, items, { timeout: { seconds: 30n, nanos: 0 } });
      expect(released).toEqual([true]);
      const { grants } = await waiter.response(waiting, acquire);
      expect(grants[0]?.hold?.holder).toBe("w");
    } finally {
      clearInterval(beating);
    }
  });
});

describe("a gateway that goes", () => {
  it("takes nothing with it: another gateway renews the term that was acquired through it", async () => {
    using first = await TestSession.open(deployment.grpc("gateway-1"), "moving");
    using second = await TestSession.open(deployment.grpc("gateway-2"), "moving");
    const { hold } = await take(first, "moved", "h");
    const { acked, group } = await renew(second, hold);
    expect(acked).toEqual([group]);
  });

  it("grants a wait that is sent again through another gateway once, by the same attempt", async () => {
    using holder = await TestSession.open(deployment.grpc("gateway-1"), "resend-holder");
    using first = await TestSession.open(deployment.grpc("gateway-1"), "resend");
    using second = await TestSession.open(deployment.grpc("gateway-2"), "resend");
    const { hold } = await take(holder, "resent", "h");
    const waiting = claim(first, "resent", "w", { wait: {} });
    first.begin(leases, acquire, waiting);
    await settled(first, "resent");
    const again = second.begin(leases, acquire, { ...waiting, sendNumber: 5n });
    await settled(second, "resent");
    await holder.call(leases, release, releaseOf(holder, "resent", hold.token));
    const { grants } = await second.response(again, acquire);
    const { lease } = await second.call(leases, get, {
      lease: key("resent"),
      read: { consistency: 2, minRevision: 0n },
    });
    expect(lease?.holds.map(({ holder: name, token }) => [name, token])).toEqual([["w", grants[0]?.hold?.token]]);
    expect(lease?.waiters).toBe(0);
  });

  it("says goodbye, finishes what is open, refuses what is new, and ends; its restart serves on", async () => {
    using session = await TestSession.open(deployment.grpc("gateway-1"), "goodbye");
    using other = await TestSession.open(deployment.grpc("gateway-2"), "goodbye-other");
    const { hold } = await take(other, "farewell", "h");
    const waiting = session.begin(leases, acquire, claim(session, "farewell", "w", { wait: {} }));
    await settled(session, "farewell");
    const gateway = deployment.process("gateway-1");
    const stopped = gateway.stop(30_000);
    await waitFor(() => session.messages.some(({ goodbye }) => goodbye !== undefined), { describe: "the goodbye" });
    const refused = await session
      .call(leases, get, { lease: key("farewell"), read: undefined })
      .catch((fault: unknown) => fault);
    expect(refused).toMatchObject({ code: "UNAVAILABLE", reason: "SERVER_STOPPING", details: { applied: "NO" } });
    await other.call(leases, release, releaseOf(other, "farewell", hold.token));
    const { grants } = await session.response(waiting, acquire);
    expect(grants[0]?.hold?.holder).toBe("w");
    await session.close();
    await stopped;
    deployment.processes.delete("gateway-1");
    await deployment.start("gateway", "gateway-3");
    await deployment.ready();
    using again = await TestSession.open(deployment.grpc("gateway-3"), "goodbye");
    expect((await renew(again, grants[0]?.hold ?? { holdId: 0n, partition: 0 })).acked).toHaveLength(1);
  });

  it("that is killed leaves the terms of its clients running, and another renews them", async () => {
    await deployment.start("gateway", "gateway-4");
    await deployment.ready();
    using session = await TestSession.open(deployment.grpc("gateway-4"), "killed");
    const { hold } = await take(session, "survivor", "h");
    await deployment.kill("gateway-4");
    await waitFor(() => session.error !== undefined, { describe: "the cut" });
    using again = await TestSession.open(deployment.grpc("gateway-2"), "killed");
    const { acked, group } = await renew(again, hold);
    expect(acked).toEqual([group]);
  });

  it("ends a session whose client is silent for three times the silence that makes its waits skipped", async () => {
    const hello = {
      beatInterval: { seconds: 0n, nanos: 50_000_000 },
      requestTimeout: { seconds: 0n, nanos: 50_000_000 },
    };
    using session = await TestSession.open(deployment.grpc("gateway-2"), "silent", hello);
    await waitFor(() => session.error !== undefined, { describe: "the end of the silent session", timeoutMs: 30_000 });
    expect(session.error?.code).toBe(14);
  });
});
