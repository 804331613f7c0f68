import { type Bus, type Client, createClient, serve } from "@tenure/bus";
import { type NatsServer, startNats, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CutProxy, startCutProxy } from "./cut-proxy.ts";
import { aborted } from "./echo-handlers.ts";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

let nats: NatsServer;
let proxy: CutProxy;
let bus: Bus;
let serving: Bus;
let client: Client<typeof EchoDefinition>;
let finish: () => void;

const request = { text: "", count: 0 };
const answer = { text: "answer", count: 0, pid: 0 };

beforeAll(async () => {
  nats = await startNats({ jetstream: false });
  proxy = await startCutProxy(nats.port);
  bus = await connectTestBus(nats.url, "caller");
  serving = await connectTestBus(`nats://127.0.0.1:${proxy.port}`, "server");
  client = createClient(bus, EchoDefinition, { deadlineMs: 3_600_000, beatMs: 60_000 });
  serve(serving, EchoDefinition, {
    say: () =>
      new Promise((resolve) => {
        finish = () => resolve(answer);
      }),
    async *watch(_request, { signal }) {
      yield answer;
      await aborted(signal);
    },
  });
  await serving.flush();
});

afterAll(async () => {
  await bus?.drain();
  await serving?.drain();
  await proxy?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

/** Cuts the server off, does something, and connects it again. */
async function whileCut(action: () => void | Promise<void>): Promise<void> {
  proxy.cut();
  await waitFor(() => !serving.connected);
  await action();
  proxy.heal();
  await waitFor(() => serving.connected);
  expect(bus.connected).toBe(true);
}

/** A call that has reached its handler. */
async function startCall(): Promise<{ readonly outcome: Promise<unknown> }> {
  finish = () => undefined;
  const unstarted = finish;
  const outcome = client.say(request).catch((fault: unknown) => fault);
  await waitFor(() => finish !== unstarted);
  return { outcome };
}

describe("a server that loses NATS while its caller does not", () => {
  test("answers normally when the handler ends after the reconnect", async () => {
    const { outcome } = await startCall();
    await whileCut(() => undefined);
    finish();
    expect(await outcome).toEqual(answer);
  });

  test("tells the caller after the reconnect that the outcome of what ended meanwhile is unknown", async () => {
    const { outcome } = await startCall();
    await whileCut(async () => {
      finish();
      await new Promise((resolve) => setImmediate(resolve));
    });
    expect(await outcome).toMatchObject({ reason: "BUS_DISCONNECTED", details: { applied: "UNKNOWN" } });
  });

  test("ends its streams, whose callers learn it at the reconnect and not by silence", async () => {
    const iterator = client.watch(request)[Symbol.asyncIterator]();
    await iterator.next();
    await whileCut(() => undefined);
    await expect(iterator.next()).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "BUS_DISCONNECTED" });
  });
});
