import { type Bus, type BusStatus, type Client, createClient } from "@tenure/bus";
import { type ManagedProcess, type NatsServer, startNats, waitFor } from "@tenure/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startCutProxy } from "./cut-proxy.ts";
import { startEchoServer } from "./echo-server.ts";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

let nats: NatsServer;
let server: ManagedProcess;
let bus: Bus;
let client: Client<typeof EchoDefinition>;
let statuses: BusStatus[];

const unbounded = { deadlineMs: 3_600_000 };

beforeEach(async () => {
  nats = await startNats({ jetstream: false });
  server = await startEchoServer(nats.url);
  bus = await connectTestBus(nats.url, "caller");
  client = createClient(bus, EchoDefinition);
  statuses = [];
  bus.onStatus((status) => statuses.push(status));
});

afterEach(async () => {
  await bus?.drain();
  await server?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

/** Waits until both processes are connected again and the server is found. */
async function recovered(): Promise<void> {
  await waitFor(() => client.say({ text: "", count: 0 }, { deadlineMs: 1_000 }));
}

describe("NATS killed with -9", () => {
  test("in the middle of a call fails it at once as of unknown outcome; then all recovers by itself", async () => {
    const hanging = client.hang({ text: "cut", count: 0 }, unbounded);
    const settled = hanging.then(
      () => undefined,
      (fault: unknown) => fault,
    );
    await server.waitForLine("hang cut started");
    await nats.kill9();
    expect(await settled).toMatchObject({
      code: "UNAVAILABLE",
      reason: "BUS_DISCONNECTED",
      details: { applied: "UNKNOWN" },
    });
    expect(bus.connected).toBe(false);
    await expect(client.say({ text: "", count: 0 }, unbounded)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "BUS_DISCONNECTED",
      details: { applied: "NO" },
    });
    expect(() => bus.publish("tenure.probe.x", new Uint8Array())).toThrow(/connection to NATS is down/);
    await nats.restart();
    await recovered();
    const response = await client.say({ text: "again", count: 0 });
    expect(response).toEqual({ text: "again", count: 0, pid: server.pid });
    expect(statuses).toEqual(["disconnected", "connected"]);
  });

  test("in the middle of a stream fails it on both sides; then a new stream works without anything made anew", async () => {
    const iterator = client.watch({ text: "cut", count: 0 }, { beatMs: 60_000 })[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    const settled = waiting.then(
      () => undefined,
      (fault: unknown) => fault,
    );
    await nats.kill9();
    expect(await settled).toMatchObject({ code: "UNAVAILABLE", reason: "BUS_DISCONNECTED" });
    await server.waitForLine("watch cut aborted UNAVAILABLE BUS_DISCONNECTED");
    await expect(client.watch({ text: "", count: 0 })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      reason: "BUS_DISCONNECTED",
      details: { applied: "NO" },
    });
    await nats.restart();
    await recovered();
    const counts: number[] = [];
    for await (const item of client.count({ text: "", count: 1_000 })) counts.push(item.count);
    expect(counts).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
  });

  test("sends nothing later that was asked for while it was away", async () => {
    const received: string[] = [];
    bus.subscribe("tenure.probe.late", (payload) => received.push(new TextDecoder().decode(payload)));
    const refused: unknown[] = [];
    await nats.kill9();
    await waitFor(() => !bus.connected);
    const attempt = (): void => {
      try {
        bus.publish("tenure.probe.late", new TextEncoder().encode("late"));
      } catch (fault) {
        refused.push(fault);
      }
    };
    // Attempts fall before, during and after the dials of the client, whose own buffer would keep some of them.
    const attempts = setInterval(() => {
      if (!bus.connected) attempt();
    }, 1);
    await waitFor(() => refused.length > 50);
    await nats.restart();
    await waitFor(() => bus.connected);
    clearInterval(attempts);
    await bus.flush();
    bus.publish("tenure.probe.late", new TextEncoder().encode("after"));
    await waitFor(() => received.length > 0);
    expect(received).toEqual(["after"]);
  });

  test("repeatedly, under load, settles every call and ends with a working bus", async () => {
    let isRunning = true;
    const outcomes = new Map<string, number>();
    const note = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const load = Array.from({ length: 20 }, async () => {
      while (isRunning) {
        await client.say({ text: "x".repeat(1_000), count: 0 }).then(
          () => note("answered"),
          (fault: { reason: string }) => note(fault.reason),
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    for (let round = 0; round < 3; round += 1) {
      const before = outcomes.get("answered") ?? 0;
      await waitFor(() => (outcomes.get("answered") ?? 0) > before + 100);
      await nats.kill9();
      await waitFor(() => !bus.connected);
      await nats.restart();
    }
    await recovered();
    isRunning = false;
    await Promise.all(load);
    const expected = new Set(["answered", "BUS_DISCONNECTED", "NO_RESPONDER", "DEADLINE_EXCEEDED"]);
    expect([...outcomes.keys()].filter((outcome) => !expected.has(outcome))).toEqual([]);
  });
});

describe("a connection that answers nothing", () => {
  test("is given up within seconds, also with a full socket", async () => {
    await using proxy = await startCutProxy(nats.port);
    await using stalled = await connectTestBus(`nats://127.0.0.1:${proxy.port}`, "stalled");
    const caller = createClient(stalled, EchoDefinition, unbounded);
    await caller.say({ text: "", count: 0 });
    proxy.stall();
    // Far more than sockets take: the rest waits in this process and must die with the connection.
    const text = "x".repeat(500_000);
    const calls = Array.from({ length: 60 }, () => caller.say({ text, count: 0 }));
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: "rejected", reason: { reason: "BUS_DISCONNECTED" } });
    }
    await waitFor(() => stalled.connected);
    expect(await caller.say({ text: "back", count: 0 })).toMatchObject({ text: "back" });
  });

  test("of a server that stands still is given up too, and works again when the server does", async () => {
    const hanging = client.hang({ text: "paused", count: 0 }, unbounded).catch((fault: unknown) => fault);
    await server.waitForLine("hang paused started");
    await nats.pause();
    expect(await hanging).toMatchObject({ reason: "BUS_DISCONNECTED", details: { applied: "UNKNOWN" } });
    nats.resume();
    await recovered();
  });
});
