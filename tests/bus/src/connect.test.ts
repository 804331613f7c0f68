import { createClient, serve } from "@tenure/bus";
import { freePort, startNats, waitFor } from "@tenure/testkit";
import { describe, expect, test } from "vitest";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

/** A user key made for this test alone: its seed and its public part. */
const seed = new TextEncoder().encode("SUAJQEAEGV7D7LD5UHHAP5DLXA2FWPO6NCJ5V6DYQMC2C4OEJDIHBDB6CM\n");
const publicKey = "UCS7FUIUIA4ESFMIN6JOG2HMCXF43G6EP55ATEULIB3U37CCX2CAV2YR";

describe("the first connect", () => {
  test("waits for a server that starts late", async () => {
    const port = await freePort();
    const connecting = connectTestBus(`nats://127.0.0.1:${port}`, "early");
    await using _nats = await startNats({ jetstream: false, port });
    await using bus = await connecting;
    expect(bus.connected).toBe(true);
    expect(bus.serverVersion).toMatch(/^2\.\d+\.\d+/);
    expect(bus.maxPayloadBytes).toBe(1_048_576);
    expect(bus.instance).toMatch(/^\w{12}$/);
  });

  test("fails with UNAVAILABLE after its bound, naming the server without its password", async () => {
    const url = `nats://ann:secret@127.0.0.1:${await freePort()}`;
    await expect(connectTestBus(url, "x", { connectTimeoutMs: 400 })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "NATS_UNREACHABLE",
      message: expect.stringMatching(
        /^no NATS server answered at nats:\/\/\*\*\*@127\.0\.0\.1:\d+ within 400ms \(.+\): /,
      ),
    });
  });

  test("ends when it is aborted", async () => {
    const controller = new AbortController();
    const connecting = connectTestBus(`nats://127.0.0.1:${await freePort()}`, "x", {}, controller.signal);
    controller.abort();
    await expect(connecting).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("takes user and password from the URL, and fails at once when they are wrong", async () => {
    const accounts = 'authorization { users: [ { user: "ann", password: "p@ss:4711" } ] }';
    await using nats = await startNats({ jetstream: false, accounts });
    const url = (password: string): string => `nats://ann:${password}@127.0.0.1:${nats.port}`;
    await using bus = await connectTestBus(url("p%40ss:4711"), "ann");
    expect(bus.connected).toBe(true);
    await expect(connectTestBus(url("wrong"), "ann", { connectTimeoutMs: 3_600_000 })).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      reason: "NATS_CREDENTIAL_REFUSED",
      message: expect.not.stringContaining("wrong"),
    });
  });

  test("authenticates with an NKEY seed", async () => {
    const accounts = `authorization { users: [ { nkey: ${publicKey} } ] }`;
    await using nats = await startNats({ jetstream: false, accounts });
    const url = `nats://127.0.0.1:${nats.port}`;
    await using bus = await connectTestBus(url, "keyed", { nkeySeed: seed });
    expect(bus.connected).toBe(true);
    await expect(connectTestBus(url, "anonymous")).rejects.toMatchObject({ reason: "NATS_CREDENTIAL_REFUSED" });
  });
});

describe("permissions", () => {
  test("that forbid a call fail it at once with PERMISSION_DENIED, and are reported", async () => {
    const accounts = `authorization { users: [
      { user: "ann", password: "a", permissions: { publish: ["tenure.rpc.EchoService.Say"], subscribe: ["_INBOX_ann.>"] } }
      { user: "bob", password: "b" }
    ] }`;
    await using nats = await startNats({ jetstream: false, accounts });
    const faults: unknown[] = [];
    const onFault = (fault: unknown): void => void faults.push(fault);
    await using bus = await connectTestBus(`nats://ann:a@127.0.0.1:${nats.port}`, "ann", { onFault });
    await using serving = await connectTestBus(`nats://bob:b@127.0.0.1:${nats.port}`, "bob");
    const answer = { text: "", count: 0, pid: 0 };
    await using _server = serve(serving, EchoDefinition, { say: () => answer, inflate: () => answer });
    await serving.flush();
    const client = createClient(bus, EchoDefinition, { deadlineMs: 3_600_000 });
    expect(await client.say({ text: "", count: 0 })).toEqual(answer);
    const denied = { code: "PERMISSION_DENIED", reason: "NATS_PERMISSION_DENIED" };
    await expect(client.inflate({ text: "", count: 0 })).rejects.toMatchObject(denied);
    expect(faults).toMatchObject([denied]);
    bus.subscribe("tenure.presence.x.y", () => undefined);
    await waitFor(() => faults.length === 2);
    expect(faults[1]).toMatchObject({ ...denied, message: expect.stringContaining("tenure.presence.x.y") });
  });

  test("that forbid the inbox fail every call at once instead of at its deadline", async () => {
    const accounts = `authorization { users: [
      { user: "ann", password: "a", permissions: { publish: [">"], subscribe: ["_INBOX_bob.>"] } }
    ] }`;
    await using nats = await startNats({ jetstream: false, accounts });
    await using bus = await connectTestBus(`nats://ann:a@127.0.0.1:${nats.port}`, "ann");
    const client = createClient(bus, EchoDefinition, { deadlineMs: 3_600_000 });
    await expect(client.say({ text: "", count: 0 })).rejects.toMatchObject({ reason: "NATS_PERMISSION_DENIED" });
    await expect(client.say({ text: "", count: 0 })).rejects.toMatchObject({ reason: "NATS_PERMISSION_DENIED" });
  });

  test("that allow the inbox again after a reconnect let calls through again", async () => {
    const accounts = (inbox: string): string => `authorization { users: [
      { user: "ann", password: "a", permissions: { publish: [">"], subscribe: ["${inbox}.>"] } }
    ] }`;
    const forbidding = await startNats({ jetstream: false, accounts: accounts("_INBOX_bob") });
    const { port } = forbidding;
    await using bus = await connectTestBus(`nats://ann:a@127.0.0.1:${port}`, "ann");
    const client = createClient(bus, EchoDefinition, { deadlineMs: 3_600_000 });
    await expect(client.say({ text: "", count: 0 })).rejects.toMatchObject({ reason: "NATS_PERMISSION_DENIED" });
    await forbidding[Symbol.asyncDispose]();
    await using _allowing = await startNats({ jetstream: false, port, accounts: accounts("_INBOX_ann") });
    await waitFor(() => bus.connected);
    await expect(client.say({ text: "", count: 0 })).rejects.toMatchObject({ reason: "NO_RESPONDER" });
  });
});
