import { type Bus, batchSubject, createClient, createStart, serve } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import { type NatsServer, startNats, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echoHandlers } from "./echo-handlers.ts";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

let nats: NatsServer;
let serverBus: Bus;
let bus: Bus;
const printed: string[] = [];
const batches: string[] = [];
const route = "3.7";
const none = { text: "", count: 0 };

beforeAll(async () => {
  nats = await startNats({ jetstream: false, extraConfig: "max_payload: 65536" });
  serverBus = await connectTestBus(nats.url, "server");
  bus = await connectTestBus(nats.url, "caller");
  serve(
    serverBus,
    EchoDefinition,
    echoHandlers((line) => printed.push(line)),
    { route },
  );
  serverBus.subscribe(batchSubject("EchoService", route), (_, subject) => batches.push(subject));
  await serverBus.flush();
});

afterAll(async () => {
  await bus?.drain();
  await serverBus?.drain();
  await nats?.[Symbol.asyncDispose]();
});

test("calls of one turn on one route travel in one message, and each gets its own answer", async () => {
  batches.length = 0;
  const client = createClient(bus, EchoDefinition, { route });
  const said = Array.from({ length: 20 }, (_, index) => client.say({ text: `text ${index}`, count: 0 }));
  const told = client.describe(none);
  const refused = client.refuse(none).catch((thrown: unknown) => thrown);
  const large = client.inflate({ text: "", count: 40_000 });
  const tooLarge = client.inflate({ text: "", count: 70_000 }).catch((thrown: unknown) => thrown);
  expect((await Promise.all(said)).map(({ text }) => text)).toEqual(said.map((_, index) => `text ${index}`));
  expect(JSON.parse((await told).text)).toEqual(["EchoService.Describe", "anonymous", null]);
  expect(await refused).toMatchObject({ code: "ABORTED", reason: "UNKIND" });
  expect((await large).text).toHaveLength(40_000);
  expect(await tooLarge).toMatchObject({ code: "RESOURCE_EXHAUSTED", reason: "PAYLOAD_TOO_LARGE" });
  expect(batches).toEqual([batchSubject("EchoService", route)]);
});

test("calls with other principals or deadlines go in messages of their own, those without company as always", async () => {
  batches.length = 0;
  const client = createClient(bus, EchoDefinition, { route });
  const principals = ["ann", "ann", "bob"];
  const told = await Promise.all(principals.map((principal) => client.describe(none, { principal })));
  expect(told.map(({ text }) => JSON.parse(text)[1])).toEqual(principals);
  await client.say(none);
  expect(batches).toHaveLength(1);
  await Promise.all([5_000, 60_000].map((deadlineMs) => client.say(none, { deadlineMs })));
  expect(batches).toHaveLength(1);
});

test("calls with about the same deadline travel together, and each has its own", async () => {
  batches.length = 0;
  const client = createClient(bus, EchoDefinition, { route });
  const hanging = client.hang({ text: "shorter", count: 0 }, { deadlineMs: 600 }).catch((thrown: unknown) => thrown);
  const longer = client.hang({ text: "longer", count: 0 }, { deadlineMs: 900 }).catch((thrown: unknown) => thrown);
  await client.say(none, { deadlineMs: 1_200 });
  const reason = "DEADLINE_EXCEEDED";
  expect(await Promise.race([hanging, longer])).toMatchObject({ reason, message: expect.stringContaining("600") });
  expect(await longer).toMatchObject({ reason, message: expect.stringContaining("900") });
  expect(batches).toHaveLength(1);
});

test("no call's server is told more than twice its deadline, and a call that ends before it is cancelled", async () => {
  batches.length = 0;
  const client = createClient(bus, EchoDefinition, { route });
  const deadlines = [20_000, 10_000, 40_000, 40_000];
  await Promise.all(deadlines.map((deadlineMs) => client.say(none, { deadlineMs })));
  expect(batches).toHaveLength(2);
  const hanging = client.hang({ text: "outlived", count: 0 }, { deadlineMs: 1_500 }).catch((thrown: unknown) => thrown);
  await client.say(none, { deadlineMs: 3_000 });
  expect(await hanging).toMatchObject({ reason: "DEADLINE_EXCEEDED" });
  const describe = "the handler to be aborted";
  await waitFor(() => printed.some((line) => line.startsWith("hang outlived aborted")), {
    describe,
    timeoutMs: 60_000,
  });
  expect(printed).toContain("hang outlived aborted CANCELLED CANCELLED");
});

test("larger calls than one message holds are all answered", async () => {
  const client = createClient(bus, EchoDefinition, { route });
  const texts = Array.from({ length: 12 }, (_, index) => String(index).repeat(10_000));
  const responses = await Promise.all(texts.map((text) => client.say({ text, count: 0 })));
  expect(responses.map(({ text }) => text)).toEqual(texts);
});

test("a batch of more bytes than a client of ours packs is not looked at, and its sender hurts nobody", async () => {
  const answers: string[] = [];
  const unsubscribe = bus.subscribe("_INBOX_test.oversized.*", (_, subject) => answers.push(subject));
  const emptyPart = new Uint8Array(11);
  const oversized = new Uint8Array(emptyPart.byteLength * 4_000);
  bus.nats.publish(batchSubject("EchoService", route), oversized, { reply: "_INBOX_test.oversized.1" });
  const client = createClient(bus, EchoDefinition, { route });
  expect(await client.say({ text: "next", count: 0 })).toMatchObject({ text: "next" });
  expect(answers).toEqual([]);
  unsubscribe();
});

test("one call of a batch is cancelled without the others", async () => {
  const client = createClient(bus, EchoDefinition, { route });
  const stop = new AbortController();
  const hanging = client
    .hang({ text: "in batch", count: 0 }, { signal: stop.signal })
    .catch((thrown: unknown) => thrown);
  await client.say(none);
  await waitFor(() => printed.includes("hang in batch started"), { describe: "the handler to run", timeoutMs: 60_000 });
  stop.abort();
  expect(await hanging).toMatchObject({ code: "CANCELLED" });
  const describe = "the handler to be aborted";
  await waitFor(() => printed.includes("hang in batch aborted CANCELLED CANCELLED"), { describe, timeoutMs: 60_000 });
});

test("nobody listening on the route is said of every call, and of one that was given up nothing is sent", async () => {
  const client = createClient(bus, EchoDefinition, { route: "3.8" });
  const faults = await Promise.all([1, 2, 3].map(() => client.say(none).catch((thrown: unknown) => thrown)));
  for (const fault of faults) expect(fault).toMatchObject({ reason: "NO_RESPONDER", details: { applied: "NO" } });
  batches.length = 0;
  const stop = new AbortController();
  const routed = createClient(bus, EchoDefinition, { route });
  const given = routed.say(none, { signal: stop.signal }).catch((thrown: unknown) => thrown);
  stop.abort();
  expect(await given).toMatchObject({ code: "CANCELLED" });
  await routed.say(none);
  expect(batches).toEqual([]);
});

test("a call that is begun without a promise tells its outcome once, also when it cannot be sent", async () => {
  const closed = await connectTestBus(nats.url, "closed");
  const { say } = EchoDefinition.methods;
  const outcomeOf = (start: ReturnType<typeof createStart<typeof none, typeof none>>) =>
    new Promise((resolve) => start({ text: "started", count: 0 }, { route }, resolve));
  expect(await outcomeOf(createStart(bus, "EchoService", say))).toMatchObject({ text: "started" });
  await closed.drain();
  const refused = await outcomeOf(createStart(closed, "EchoService", say));
  expect(refused).toBeInstanceOf(Fault);
  expect(refused).toMatchObject({ reason: "BUS_CLOSED", details: { applied: "NO" } });
});
