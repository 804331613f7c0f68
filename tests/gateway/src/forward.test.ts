import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { type CallContext, serve } from "@tenure/bus";
import { IdentityServiceDefinition, IdentityServiceGetResponse, IdentityServiceWatchResponse } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callUnary, faultOf, TestSession } from "./test-session.ts";

const identities = "tenure.v1.IdentityService";
const { get, watch } = IdentityServiceDefinition.methods;
const request = get.requestType.fromPartial({});
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

let deployment: Deployment;
let address: string;

beforeAll(async () => {
  deployment = await startDeployment();
  address = deployment.grpc("gateway-1");
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

describe("a service behind the gateway", () => {
  it("is UNIMPLEMENTED while nobody has ever served it, over plain calls and sessions", async () => {
    const plain = await callUnary(address, identities, get, request).catch((error: unknown) => error);
    expect(faultOf(plain)).toMatchObject({ code: "UNIMPLEMENTED", reason: "NOT_SERVED" });
    using session = await TestSession.open(address, "nobody");
    const inSession = await session.call(identities, get, request).catch((fault: unknown) => fault);
    expect(inSession).toMatchObject({ code: "UNIMPLEMENTED", reason: "NOT_SERVED" });
  });

  it("gets deadline, principal and trace as the caller gave them, and its faults arrive as it threw them", async () => {
    const contexts: (CallContext & { readonly leftMs: number })[] = [];
    const fault = new Fault({
      code: "NOT_FOUND",
      reason: "IDENTITY_NOT_FOUND",
      message: "no such identity",
      details: { retryAfterMs: 1_250, attributes: { partition: "3" }, revision: 7n },
    });
    await using _server = serve(deployment.bus, IdentityServiceDefinition, {
      get(_, context) {
        contexts.push(Object.assign(context, { leftMs: context.remainingMs() }));
        if (contexts.length > 2) throw fault;
        return IdentityServiceGetResponse.fromPartial({});
      },
    });
    await deployment.bus.flush();
    const client = new Client(address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("traceparent", traceparent);
    metadata.set("tracestate", "a=1");
    await new Promise((resolve, reject) => {
      const bytes = (message: Buffer) => message;
      const deadline = Date.now() + 20_000;
      client.makeUnaryRequest(
        `/${identities}/Get`,
        bytes,
        bytes,
        Buffer.alloc(0),
        metadata,
        { deadline },
        (error, response) => (error === null ? resolve(response) : reject(error)),
      );
    });
    using session = await TestSession.open(address, "traced");
    await session.call(identities, get, request, { traceparent, timeout: { seconds: 20n, nanos: 0 } });
    expect(contexts.map(({ principal, trace }) => [principal, trace])).toEqual([
      ["anonymous", { traceparent, tracestate: "a=1" }],
      ["anonymous", { traceparent }],
    ]);
    for (const { leftMs } of contexts) {
      expect(leftMs).toBeGreaterThan(5_000);
      expect(leftMs).toBeLessThanOrEqual(20_000);
    }
    const same = { code: fault.code, reason: fault.reason, message: fault.message, details: fault.details };
    const plain = await callUnary(address, identities, get, request).catch((error: unknown) => error);
    expect(faultOf(plain)).toMatchObject(same);
    expect(await session.call(identities, get, request).catch((thrown: unknown) => thrown)).toMatchObject(same);
    client.close();
  });

  it("learns that its caller has gone", async () => {
    const signals: AbortSignal[] = [];
    const forEver = () => new Promise<never>(() => {});
    await using _server = serve(
      deployment.bus,
      IdentityServiceDefinition,
      {
        get(_, { signal }) {
          signals.push(signal);
          return forEver();
        },
        async *watch(_, { signal }) {
          signals.push(signal);
          yield IdentityServiceWatchResponse.fromPartial({});
          await forEver();
        },
      },
      { stopGraceMs: 0 },
    );
    await deployment.bus.flush();
    using session = await TestSession.open(address, "gone");
    const calls = [
      session.begin(identities, get, request),
      session.begin(identities, watch, watch.requestType.fromPartial({})),
    ];
    await waitFor(() => signals.length === 2, { describe: "both calls" });
    session.send({ cancels: calls });
    await waitFor(() => signals.every(({ aborted }) => aborted), { describe: "both to be given up" });
    const plain = await callUnary(address, identities, get, request, 500).catch((error: unknown) => error);
    expect(plain).toMatchObject({ code: 4 });
    await waitFor(() => signals.length === 3 && signals.every(({ aborted }) => aborted), {
      describe: "the plain call",
    });
  });
});
