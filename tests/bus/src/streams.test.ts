import { type Bus, type Client, createClient } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import { type ManagedProcess, type NatsServer, startNats, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everyDetail } from "./echo-handlers.ts";
import { startEchoServer, startProgram } from "./echo-server.ts";
import { EchoDefinition, type EchoResponse } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

let nats: NatsServer;
let server: ManagedProcess;
let bus: Bus;
let client: Client<typeof EchoDefinition>;

beforeAll(async () => {
  nats = await startNats({ jetstream: false, extraConfig: "max_payload: 65536" });
  server = await startEchoServer(nats.url);
  bus = await connectTestBus(nats.url, "caller");
  client = createClient(bus, EchoDefinition);
});

afterAll(async () => {
  await bus?.drain();
  await server?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

/** Reads a stream to its end: the items, and the fault if it ended by one. */
async function readAll(stream: AsyncIterable<EchoResponse>): Promise<{ counts: number[]; fault?: Fault }> {
  const counts: number[] = [];
  try {
    for await (const item of stream) counts.push(item.count);
    return { counts };
  } catch (thrown) {
    if (thrown instanceof Fault) return { counts, fault: thrown };
    throw thrown;
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("a stream between two processes", () => {
  test.each([0, 1, 256, 257, 20_000])("delivers %i items in order and ends", async (count) => {
    expect(await readAll(client.count({ text: "", count }))).toEqual({ counts: upTo(count) });
  });

  test("delivers the items before an error, then the same fault", async () => {
    const { counts, fault } = await readAll(client.countAndRefuse({ text: "", count: 300 }));
    expect(counts).toEqual(upTo(300));
    expect(fault).toMatchObject({ code: "ABORTED", reason: "UNKIND", message: "be kind" });
    expect(fault?.details).toEqual(everyDetail);
  });

  test("tells nothing of the insides of a handler that fails", async () => {
    const { counts, fault } = await readAll(client.countAndRefuse({ text: "crash", count: 2 }));
    expect(counts).toEqual([0, 1]);
    expect(fault).toMatchObject({ code: "INTERNAL" });
    expect(fault?.message).not.toContain("secret");
    await server.waitForLine("handler of EchoService.CountAndRefuse failed: RangeError: secret of the handler");
  });

  test("ends by name with an item that is too large", async () => {
    const { fault } = await readAll(client.pourLarge({ text: "", count: 70_000 }));
    expect(fault).toMatchObject({ code: "RESOURCE_EXHAUSTED", reason: "PAYLOAD_TOO_LARGE" });
    expect(fault?.message).toContain("an item of EchoService.PourLarge");
    expect((await readAll(client.pourLarge({ text: "", count: 60_000 }))).fault).toBeUndefined();
  });

  test("that nobody serves is UNAVAILABLE at once", async () => {
    const unserved = {
      ...EchoDefinition,
      methods: { watch: { ...EchoDefinition.methods.watch, name: "Nowhere" } },
    } as const;
    const { fault } = await readAll(createClient(bus, unserved).watch({ text: "", count: 0 }, { beatMs: 60_000 }));
    expect(fault).toMatchObject({ code: "UNAVAILABLE", reason: "NO_RESPONDER", details: { applied: "NO" } });
  });

  test("may be opened many times at once", async () => {
    const streams = await Promise.all(upTo(100).map(() => readAll(client.count({ text: "", count: 500 }))));
    for (const { counts, fault } of streams) {
      expect(fault).toBeUndefined();
      expect(counts).toEqual(upTo(500));
    }
  });

  test("ends at its deadline on both sides", async () => {
    const iterator = client.watch({ text: "late", count: 0 }, { deadlineMs: 1_000 })[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ text: "late" });
    await expect(iterator.next()).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    await server.waitForLine(/^watch late aborted (DEADLINE_EXCEEDED|CANCELLED)/);
  });
});

describe("flow control", () => {
  test("lets the handler run ahead of a slow consumer by at most the window, and not less than half of it", async () => {
    const window = 16;
    const text = "slow";
    const iterator = client.pour({ text, count: 0 }, { window, beatMs: 250 })[Symbol.asyncIterator]();
    let consumed = 0;
    for (const target of [1, 2, 9, 40]) {
      for (; consumed < target; consumed += 1) {
        expect((await iterator.next()).value).toMatchObject({ count: consumed + 1 });
        expect(await produced(text)).toBeLessThanOrEqual(consumed + 1 + window);
      }
      // With the consumer at rest the handler comes to a stand, heartbeats or not.
      const stand = await waitForStand(() => produced(text));
      expect(stand).toBeGreaterThanOrEqual(consumed + window / 2);
      expect(stand).toBeLessThanOrEqual(consumed + window);
    }
    await iterator.return?.();
    await server.waitForLine("pour slow let go");
  });

  async function produced(text: string): Promise<number> {
    return (await client.produced({ text, count: 0 })).count;
  }

  async function waitForStand(read: () => Promise<number>): Promise<number> {
    let last = await read();
    let same = 0;
    await waitFor(async () => {
      const next = await read();
      same = next === last ? same + 1 : 0;
      last = next;
      return same >= 10;
    });
    return last;
  }
});

describe("leaving a stream", () => {
  test("by breaking out of the loop aborts the handler", async () => {
    for await (const item of client.watch({ text: "left", count: 0 })) {
      expect(item.text).toBe("left");
      break;
    }
    await server.waitForLine("watch left aborted CANCELLED CANCELLED");
  });

  test("by the signal ends the wait at once with CANCELLED and aborts the handler", async () => {
    const controller = new AbortController();
    const options = { signal: controller.signal, beatMs: 60_000 };
    const iterator = client.watch({ text: "dropped", count: 0 }, options)[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    await server.waitForLine("watch dropped aborted CANCELLED CANCELLED");
  });

  test("before its first item reaches a server whose name is not known yet", async () => {
    const iterator = client.pour({ text: "early", count: 0 })[Symbol.asyncIterator]();
    await iterator.return?.();
    await server.waitForLine("pour early let go");
  });
});

describe("heartbeats", () => {
  test("keep an idle stream open on both sides", async () => {
    const controller = new AbortController();
    const options = { beatMs: 250, signal: controller.signal };
    const iterator = client.watch({ text: "idle", count: 0 }, options)[Symbol.asyncIterator]();
    await iterator.next();
    let isOpen = true;
    const ended = iterator.next().catch(() => {
      isOpen = false;
    });
    // Eight heartbeats of the server arrive, where three missed ones of either side would end the stream.
    const { inMsgs } = bus.nats.stats();
    await waitFor(() => bus.nats.stats().inMsgs >= inMsgs + 8);
    expect(isOpen).toBe(true);
    expect(server.output.all).not.toContainEqual(expect.stringMatching(/^watch idle aborted/));
    controller.abort();
    await ended;
    await server.waitForLine("watch idle aborted CANCELLED CANCELLED");
  });

  test("end the stream of a server that stands still", async () => {
    await using frozen = await startEchoServer(nats.url, "frozen");
    const stream = client.watch({ text: "frozen", count: 0 }, { beatMs: 200, route: "frozen" });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    await frozen.pause();
    await expect(iterator.next()).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "STREAM_SILENT" });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    frozen.resume();
  });

  test("abort the handler of a caller that was killed", async () => {
    await using caller = startProgram("watching-process", nats.url, "killed", "200");
    await caller.waitForLine("got killed");
    await caller.kill9();
    await server.waitForLine("watch killed aborted UNAVAILABLE STREAM_SILENT");
  });
});
