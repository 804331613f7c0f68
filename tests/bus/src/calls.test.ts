import { type Bus, type Client, callSubject, createClient } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import { type ManagedProcess, type NatsServer, startNats, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everyDetail } from "./echo-handlers.ts";
import { startEchoServer } from "./echo-server.ts";
import { EchoDefinition } from "./echo-service.ts";
import { connectTestBus } from "./test-bus.ts";

let nats: NatsServer;
let server: ManagedProcess;
let bus: Bus;
let client: Client<typeof EchoDefinition>;

const limitBytes = 65_536;
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

beforeAll(async () => {
  nats = await startNats({ jetstream: false, extraConfig: `max_payload: ${limitBytes}` });
  server = await startEchoServer(nats.url);
  bus = await connectTestBus(nats.url, "caller");
  client = createClient(bus, EchoDefinition);
});

afterAll(async () => {
  await bus?.drain();
  await server?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

/** The fault that a call must end with. */
async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const thrown = await call.then(
    (response) => new Error(`expected a fault, got ${JSON.stringify(response)}`),
    (reason: unknown) => reason,
  );
  if (thrown instanceof Fault) return thrown;
  throw thrown;
}

describe("a call between two processes", () => {
  test("is answered by the other process", async () => {
    const response = await client.say({ text: "hello", count: 0 });
    expect(response).toEqual({ text: "hello", count: 0, pid: server.pid });
  });

  test("keeps a thousand concurrent calls apart", async () => {
    const texts = Array.from({ length: 1_000 }, (_, index) => `text ${index}`);
    const responses = await Promise.all(texts.map((text) => client.say({ text, count: 0 })));
    expect(responses.map((response) => response.text)).toEqual(texts);
  });

  test("carries principal, trace and the remaining time, and defaults to anonymous and five seconds", async () => {
    const trace = { traceparent, tracestate: "a=1" };
    const told = await client.describe({ text: "", count: 0 }, { principal: "ann ö", trace, deadlineMs: 30_000 });
    expect(JSON.parse(told.text)).toEqual(["EchoService.Describe", "ann ö", trace]);
    expect(told.count).toBeGreaterThan(0);
    expect(told.count).toBeLessThanOrEqual(30_000);
    const plain = await client.describe({ text: "", count: 0 });
    expect(JSON.parse(plain.text)).toEqual(["EchoService.Describe", "anonymous", null]);
    expect(plain.count).toBeLessThanOrEqual(5_000);
  });

  test("drops a malformed trace and refuses a principal that would add a header", async () => {
    const told = await client.describe({ text: "", count: 0 }, { trace: { traceparent: "nonsense" } });
    expect(JSON.parse(told.text)[2]).toBeNull();
    const fault = await faultOf(client.say({ text: "", count: 0 }, { principal: "a\r\nTenure-Deadline-Ms: 1" }));
    expect(fault.code).toBe("INVALID_ARGUMENT");
  });

  test("has no method for those whose caller streams", () => {
    expect(Object.keys(client)).not.toContain("talk");
  });
});

describe("an error", () => {
  test("arrives as the same fault with its code, reason, message and every detail", async () => {
    const fault = await faultOf(client.refuse({ text: "", count: 0 }));
    expect(fault).toMatchObject({ code: "ABORTED", reason: "UNKIND", message: "be kind" });
    expect(fault.details).toEqual(everyDetail);
    expect(fault.retryable).toBe(true);
  });

  test("that is a handler's own mistake tells the caller nothing of its insides, and the log everything", async () => {
    const fault = await faultOf(client.crash({ text: "", count: 0 }));
    expect(fault).toMatchObject({ code: "INTERNAL", reason: "INTERNAL", details: { applied: "UNKNOWN" } });
    expect(fault.message).toMatch(/^the handler of EchoService.Crash failed: see the log of instance \w+$/);
    await server.waitForLine("handler of EchoService.Crash failed: RangeError: secret of the handler");
  });

  test("of malformed request bytes or headers is INVALID_ARGUMENT", async () => {
    const broken = {
      ...EchoDefinition,
      methods: {
        say: {
          ...EchoDefinition.methods.say,
          requestType: {
            encode: (bytes: Uint8Array) => ({ finish: () => bytes }),
            decode: (bytes: Uint8Array) => bytes,
          },
        },
      },
    } as const;
    const fault = await faultOf(createClient(bus, broken).say(Uint8Array.of(0xff, 0xfe)));
    expect(fault).toMatchObject({ code: "INVALID_ARGUMENT", reason: "MALFORMED_MESSAGE", details: { applied: "NO" } });
  });

  test("of an unserved method or route is UNAVAILABLE at once, not after the deadline", async () => {
    const options = { deadlineMs: 3_600_000 };
    const fault = await faultOf(client.unserved({ text: "", count: 0 }, options));
    expect(fault).toMatchObject({ code: "UNAVAILABLE", reason: "NO_RESPONDER", details: { applied: "NO" } });
    expect(fault.message).toContain("tenure.rpc.EchoService.Unserved");
    const routed = await faultOf(client.say({ text: "", count: 0 }, { ...options, route: "3.17" }));
    expect(routed.reason).toBe("NO_RESPONDER");
  });
});

describe("cancellation", () => {
  test("rejects at once and aborts the handler in the other process", async () => {
    const controller = new AbortController();
    const call = faultOf(client.hang({ text: "one", count: 0 }, { signal: controller.signal, deadlineMs: 3_600_000 }));
    await server.waitForLine("hang one started");
    controller.abort(new Error("no longer wanted"));
    const fault = await call;
    expect(fault).toMatchObject({ code: "CANCELLED", details: { applied: "UNKNOWN" } });
    expect(fault.cause).toMatchObject({ message: "no longer wanted" });
    await server.waitForLine("hang one aborted CANCELLED CANCELLED");
  });

  test("of a signal that is aborted already sends nothing", async () => {
    const fault = await faultOf(client.say({ text: "", count: 0 }, { signal: AbortSignal.abort() }));
    expect(fault).toMatchObject({ code: "CANCELLED", details: { applied: "NO" } });
  });

  test("after the answer changes nothing", async () => {
    const controller = new AbortController();
    const response = await client.say({ text: "done", count: 0 }, { signal: controller.signal });
    controller.abort();
    expect(response.text).toBe("done");
  });
});

describe("the deadline", () => {
  test("ends the wait of the caller and aborts the handler, each on its own clock", async () => {
    const fault = await faultOf(client.hang({ text: "two", count: 0 }, { deadlineMs: 150 }));
    expect(fault).toMatchObject({ code: "DEADLINE_EXCEEDED", details: { applied: "UNKNOWN" } });
    expect(fault.message).toBe("EchoService.Hang did not finish within its deadline of 150ms");
    await server.waitForLine("hang two aborted DEADLINE_EXCEEDED DEADLINE_EXCEEDED");
  });

  test("that has passed already sends nothing", async () => {
    const fault = await faultOf(client.say({ text: "", count: 0 }, { deadlineMs: 0 }));
    expect(fault).toMatchObject({ code: "DEADLINE_EXCEEDED", details: { applied: "NO" } });
  });

  test("cannot be without end", async () => {
    const fault = await faultOf(client.say({ text: "", count: 0 }, { deadlineMs: Number.POSITIVE_INFINITY }));
    expect(fault.code).toBe("INVALID_ARGUMENT");
  });
});

describe("a payload over the server's limit", () => {
  test("is refused before it is sent, naming the method, the size and the limit", async () => {
    const fault = await faultOf(client.say({ text: "x".repeat(limitBytes), count: 0 }));
    expect(fault).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      reason: "PAYLOAD_TOO_LARGE",
      details: { applied: "NO" },
    });
    expect(fault.message).toMatch(/the request of EchoService\.Say is \d+ bytes, over the limit of 65536 bytes/);
    expect(fault.details.limit).toEqual({ name: "max_payload", value: BigInt(limitBytes) });
    expect(await client.say({ text: "still here", count: 0 })).toMatchObject({ text: "still here" });
  });

  test("counts its headers: the largest that fits passes, and one byte more does not", async () => {
    const frameBytes = '{"text":"","count":0}'.length;
    const headerBytes = "NATS/1.0\r\nTenure-Deadline-Ms: 5000\r\n\r\n".length;
    const fitting = limitBytes - frameBytes - headerBytes;
    const answered = await faultOf(client.refuse({ text: "x".repeat(fitting), count: 0 }));
    expect(answered.reason).toBe("UNKIND");
    const refused = await faultOf(client.refuse({ text: "x".repeat(fitting + 1), count: 0 }));
    expect(refused.reason).toBe("PAYLOAD_TOO_LARGE");
  });

  test("in a response becomes that error for the caller", async () => {
    const fault = await faultOf(client.inflate({ text: "", count: limitBytes }));
    expect(fault).toMatchObject({ reason: "PAYLOAD_TOO_LARGE", details: { applied: "UNKNOWN" } });
    expect(fault.message).toContain("the response of EchoService.Inflate");
  });
});

describe("queue groups and routes", () => {
  test("spread calls over the processes of a service, and a killed one gets no more", async () => {
    await using second = await startEchoServer(nats.url);
    const pids = new Set<number>();
    await waitFor(async () => {
      pids.add((await client.say({ text: "", count: 0 })).pid);
      return pids.size === 2;
    });
    expect(pids).toEqual(new Set([server.pid, second.pid]));
    await second.kill9();
    await waitFor(async () => {
      const responses = await Promise.all(
        Array.from({ length: 50 }, () => client.say({ text: "", count: 0 }, { deadlineMs: 500 })),
      );
      return responses.every((response) => response.pid === server.pid);
    });
  });

  test("take a call to the one instance that serves the route", async () => {
    await using owner = await startEchoServer(nats.url, "3.17");
    const response = await client.say({ text: "", count: 0 }, { route: "3.17" });
    expect(response.pid).toBe(owner.pid);
    const other = await faultOf(client.say({ text: "", count: 0 }, { route: "3.18" }));
    expect(other.reason).toBe("NO_RESPONDER");
    expect(callSubject("EchoService", "Say", "3.17")).toBe("tenure.rpc.EchoService.Say.3.17");
  });

  test("refuse a route with a wildcard", async () => {
    const fault = await faultOf(client.say({ text: "", count: 0 }, { route: "*" }));
    expect(fault).toMatchObject({ code: "INVALID_ARGUMENT", reason: "SUBJECT_TOKEN_INVALID" });
  });
});
