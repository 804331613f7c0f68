import {
  type Bus,
  type BusServer,
  type Client,
  createClient,
  type Handlers,
  type ServeOptions,
  serve,
} from "@tenure/bus";
import { type NatsServer, startNats, waitFor } from "@tenure/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aborted } from "./echo-handlers.ts";
import { startEchoServer } from "./echo-server.ts";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

let nats: NatsServer;
let bus: Bus;
let serving: Bus;
let client: Client<typeof EchoDefinition>;

const answer = { text: "", count: 0, pid: 0 };
const request = { text: "", count: 0 };

beforeEach(async () => {
  nats = await startNats({ jetstream: false });
  bus = await connectTestBus(nats.url, "caller");
  serving = await connectTestBus(nats.url, "server");
  client = createClient(bus, EchoDefinition, { deadlineMs: 3_600_000 });
});

afterEach(async () => {
  await bus?.drain();
  await serving?.drain();
  await nats?.[Symbol.asyncDispose]();
});

async function start(
  handlers: Partial<Handlers<typeof EchoDefinition>>,
  options: ServeOptions = {},
): Promise<BusServer> {
  const server = serve(serving, EchoDefinition, handlers, options);
  await serving.flush();
  return server;
}

describe("stopping a server", () => {
  test("counts a call once whose response cannot be encoded, so that a stop does not wait for it", async () => {
    const circular: Record<string, unknown> = { ...answer };
    circular.self = circular;
    const errors: unknown[] = [];
    const server = await start(
      { say: () => circular as unknown as typeof answer },
      { onHandlerError: (error) => errors.push(error), stopGraceMs: 3_600_000 },
    );
    await expect(client.say(request)).rejects.toMatchObject({ code: "INTERNAL" });
    expect([server.running, errors.length]).toEqual([0, 1]);
    await server.stop();
  });

  test("lets running calls finish, takes no new ones, and leaves nothing running", async () => {
    const finishes: (() => void)[] = [];
    const server = await start({ say: () => new Promise((resolve) => void finishes.push(() => resolve(answer))) });
    const call = client.say(request);
    await waitFor(() => server.running === 1);
    const stopping = server.stop();
    await expect(waitForRefusal()).resolves.toMatchObject({ reason: "NO_RESPONDER" });
    for (const finish of finishes) finish();
    expect(await call).toEqual(answer);
    await stopping;
    expect(server.running).toBe(0);
  });

  test("aborts a call that outlasts the grace, and tells its caller", async () => {
    const server = await start(
      { say: (_request, { signal }) => aborted(signal).then(() => answer) },
      { stopGraceMs: 50 },
    );
    const call = client.say(request).catch((fault: unknown) => fault);
    await waitFor(() => server.running === 1);
    await server.stop();
    expect(await call).toMatchObject({
      code: "UNAVAILABLE",
      reason: "SERVER_STOPPING",
      details: { applied: "UNKNOWN" },
    });
  });

  test("ends streams at once with SERVER_STOPPING", async () => {
    const server = await start({
      async *watch(_request, { signal }) {
        yield answer;
        await aborted(signal);
      },
    });
    const iterator = client.watch(request)[Symbol.asyncIterator]();
    await iterator.next();
    await server.stop();
    await expect(iterator.next()).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "SERVER_STOPPING" });
    expect(server.running).toBe(0);
  });

  test("happens in order on SIGTERM of its process", async () => {
    await using other = await startEchoServer(nats.url);
    const iterator = client.watch({ text: "term", count: 0 })[Symbol.asyncIterator]();
    await iterator.next();
    other.terminate();
    await expect(iterator.next()).rejects.toMatchObject({ reason: "SERVER_STOPPING" });
    await other.waitForLine("stopped");
    expect(await other.waitForExit()).toMatchObject({ code: 0 });
  });

  test("is bounded while NATS is away", async () => {
    const server = await start({ say: () => answer }, { stopGraceMs: 200 });
    await nats.kill9();
    await waitFor(() => !serving.connected);
    await server.stop();
    await serving.drain();
    expect(serving.connected).toBe(false);
  });

  async function waitForRefusal(): Promise<unknown> {
    return waitFor(() =>
      client.say(request, { deadlineMs: 200 }).then(
        () => undefined,
        (fault: { reason: string }) => (fault.reason === "NO_RESPONDER" ? fault : undefined),
      ),
    );
  }
});

describe("limits", () => {
  test("refuse the call beyond the bound of running handlers, and take the next when one has ended", async () => {
    const finishes: (() => void)[] = [];
    const server = await start(
      { say: () => new Promise((resolve) => void finishes.push(() => resolve(answer))) },
      { maxRunning: 2 },
    );
    const first = client.say(request);
    const second = client.say(request);
    await waitFor(() => server.running === 2);
    await expect(client.say(request)).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      reason: "TOO_MANY_CALLS",
      details: { applied: "NO", limit: { name: "running calls", value: 2n } },
    });
    finishes.shift()?.();
    await first;
    const third = client.say(request);
    await waitFor(() => finishes.length === 2);
    for (const finish of finishes) finish();
    expect(await Promise.all([second, third])).toEqual([answer, answer]);
    await server.stop();
  });
});

describe("closing a bus", () => {
  test("fails what is under way and what comes after, and says so", async () => {
    await start({ hang: (_request, { signal }) => aborted(signal).then(() => answer) });
    const statuses: string[] = [];
    bus.onStatus((status) => statuses.push(status));
    const call = client.hang(request).catch((fault: unknown) => fault);
    await bus.flush();
    const closing = bus.drain();
    expect(await call).toMatchObject({ code: "UNAVAILABLE", reason: "BUS_CLOSED", details: { applied: "UNKNOWN" } });
    await expect(client.say(request)).rejects.toMatchObject({ reason: "BUS_CLOSED", details: { applied: "NO" } });
    expect(() => bus.subscribe("tenure.probe.x", () => undefined)).toThrow(/closed/);
    await closing;
    await bus.drain();
    expect(statuses).toEqual(["closed"]);
  });

  test("a listener that throws is reported and harms nobody else", async () => {
    const faults: unknown[] = [];
    await using noisy = await connectTestBus(nats.url, "noisy", { onFault: (fault) => void faults.push(fault) });
    const received: string[] = [];
    noisy.subscribe("tenure.probe.noise", () => {
      throw new Error("listener");
    });
    const stop = noisy.subscribe("tenure.probe.noise", (_payload, subject) => received.push(subject));
    noisy.publish("tenure.probe.noise", new Uint8Array());
    await waitFor(() => received.length === 1);
    expect(faults).toMatchObject([{ message: "listener" }]);
    stop();
    noisy.publish("tenure.probe.noise", new Uint8Array());
    await noisy.flush();
    expect(received).toHaveLength(1);
    expect(() => noisy.publish("tenure.probe.noise", new Uint8Array(2_000_000))).toThrow(/over the limit of 1048576/);
  });
});
