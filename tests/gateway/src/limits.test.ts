import { Client, type ClientReadableStream, credentials, type ServiceError } from "@grpc/grpc-js";
import { LeaseServiceDefinition, LeaseServiceWatchRequest } from "@tenure/contracts";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim, key, leases, take } from "./requests.ts";
import { sdkStream } from "./sdk-stream.ts";
import { callUnary, faultOf, TestSession } from "./test-session.ts";

const { acquire, get, watch } = LeaseServiceDefinition.methods;
const limits = {
  "max-request-bytes": 2_000,
  "max-session-message-bytes": 4_000,
  "streams-per-connection": 3,
  "requests-per-second": 20,
  "open-calls-per-session": 4,
  "streams-per-session": 2,
};

let deployment: Deployment;
let address: string;

beforeAll(async () => {
  const args = Object.entries(limits).map(([name, value]) => `--${name}=${value}`);
  deployment = await startDeployment({ args: { gateway: args } });
  address = deployment.grpc("gateway-1");
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

const refusedBy = (name: keyof typeof limits) => ({
  code: "RESOURCE_EXHAUSTED",
  details: { limit: { name, value: BigInt(limits[name]) } },
});

describe("the gateway's limits", () => {
  it("refuse a request that is too large, by name", async () => {
    const request = { lease: { namespace: "n", name: "x".repeat(3_000) }, read: undefined };
    const refused = await callUnary(address, leases, get, request).catch((error) => error);
    expect(faultOf(refused)).toMatchObject(refusedBy("max-request-bytes"));
  });

  it("refuse a session's message that is too large, by name", async () => {
    using session = await TestSession.open(address, "large");
    session.send({ renewals: new Uint8Array(5_000) });
    await waitFor(() => session.error !== undefined);
    expect(faultOf(session.error)).toMatchObject(refusedBy("max-session-message-bytes"));
  });

  it("refuse the same of a connection as the SDK opens it, and what is no session there", async () => {
    const tooLarge = await sdkStream(address, "/tenure.v1.SessionService/Session", Buffer.alloc(5_000));
    expect(tooLarge).toMatchObject(refusedBy("max-session-message-bytes"));
    const noSession = await sdkStream(address, "/tenure.v1.LeaseService/Watch", Buffer.alloc(0));
    expect(noSession).toMatchObject({ code: "UNIMPLEMENTED" });
  });

  it("refuse calls of a session beyond those that may be open, by name, and none of the others", async () => {
    using holder = await TestSession.open(address, "limit-holder");
    using session = await TestSession.open(address, "limit-open");
    await take(holder, "contended", "h");
    const waits = [1, 2, 3, 4].map((at) => {
      const more = { wait: {}, attempt: { clientId: `limit-open-${at}`, number: 1n } };
      return session.begin(leases, acquire, claim(session, "contended", `w${at}`, more));
    });
    const refused = await session
      .call(leases, get, { lease: key("contended"), read: undefined })
      .catch((fault: unknown) => fault);
    expect(refused).toMatchObject(refusedBy("open-calls-per-session"));
    session.send({ cancels: waits.slice(0, 1) });
    const { lease } = await session.call(leases, get, { lease: key("contended"), read: undefined });
    expect(lease?.holds[0]?.holder).toBe("h");
  });

  it("refuse streams of a session beyond those that may be open, by name", async () => {
    using session = await TestSession.open(address, "limit-streams");
    const request = LeaseServiceWatchRequest.fromPartial({ selectors: [key("followed")] });
    session.begin(leases, watch, request);
    session.begin(leases, watch, request);
    const reply = await session.replyOf(session.begin(leases, watch, request));
    expect(reply).toMatchObject({
      end: true,
      outcome: { $case: "failure", value: { detail: { limit: { name: "streams-per-session" } } } },
    });
  });

  it("refuse calls of a session that come too fast, by name, and say when to come back", async () => {
    using session = await TestSession.open(address, "limit-rate");
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const faults: unknown[] = [];
        for (let at = 0; at < 20; at += 1) {
          await session
            .call(leases, get, { lease: key("fast"), read: undefined })
            .catch((fault: unknown) => faults.push(fault));
        }
        return faults;
      }),
    );
    const limited = outcomes.flat().filter((fault) => (fault as { reason: string }).reason === "RATE_LIMITED");
    expect(limited.length).toBeGreaterThan(0);
    expect(limited[0]).toMatchObject(refusedBy("requests-per-second"));
    expect((limited[0] as { details: { retryAfterMs: number } }).details.retryAfterMs).toBeGreaterThan(0);
  });

  it("refuse streams of a connection beyond those that may be open, by name, and free them when they end", async () => {
    const client = new Client(address, credentials.createInsecure());
    const request = Buffer.from(
      watch.requestType.encode(LeaseServiceWatchRequest.fromPartial({ selectors: [key("w")] })).finish(),
    );
    const open = () => {
      const stream: ClientReadableStream<Buffer> = client.makeServerStreamRequest(
        "/tenure.v1.LeaseService/Watch",
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        request,
      );
      const seen: { items: number; error?: ServiceError; stream: ClientReadableStream<Buffer> } = { items: 0, stream };
      stream.on("data", () => {
        seen.items += 1;
      });
      stream.on("error", (error: ServiceError) => {
        seen.error = error;
      });
      return seen;
    };
    const first = [open(), open(), open()];
    await waitFor(() => first.every(({ items }) => items > 0), { describe: "three watches" });
    const fourth = open();
    await waitFor(() => fourth.error !== undefined);
    expect(faultOf(fourth.error)).toMatchObject(refusedBy("streams-per-connection"));
    first[0]?.stream.cancel();
    await waitFor(() => first[0]?.error !== undefined);
    await waitFor(async () => {
      const again = open();
      await waitFor(() => again.items > 0 || again.error !== undefined);
      return again.error === undefined;
    });
    client.close();
  });
});
