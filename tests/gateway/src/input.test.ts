import { createClient } from "@tenure/bus";
import {
  GuardServiceDefinition,
  GuardServicePutRequest,
  LeaseServiceAcquireRequest,
  LeaseServiceCreateRequest,
  LeaseServiceDefinition,
  LeaseServiceReleaseRequest,
  LeaseServiceRenewRequest,
  LeaseServiceUpdateRequest,
  ReadConsistency,
} from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";
import { type Deployment, startDeployment } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { key, leases, take } from "./requests.ts";
import { callUnary, faultOf, type Method, TestSession } from "./test-session.ts";

const { acquire, create, delete: remove, get, list, release, renew, update } = LeaseServiceDefinition.methods;
const { put } = GuardServiceDefinition.methods;
const guards = "tenure.v1.GuardService";

let deployment: Deployment;
let address: string;

beforeAll(async () => {
  deployment = await startDeployment();
  address = deployment.grpc("gateway-1");
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

const refused = async <Request, Response>(
  service: typeof leases | typeof guards,
  method: Method<Request, Response>,
  request: Request,
): Promise<Fault> => faultOf(await callUnary(address, service, method, request).catch((error: unknown) => error));

const acquireOf = (lease: object | undefined, more: object = {}) =>
  LeaseServiceAcquireRequest.fromPartial({
    claims: lease === undefined ? [] : [{ lease }],
    claimant: { holder: "h" },
    ...more,
  });

async function stateOf(name: string) {
  const read = { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n };
  return (await callUnary(address, leases, get, { lease: key(name), read })).lease;
}

describe("a plain call", () => {
  it("needs no attempt: the gateway makes one up, also for a claim that waits", async () => {
    const { grants } = await callUnary(address, leases, acquire, acquireOf(key("plain")));
    const token = grants[0]?.hold?.token ?? 0n;
    const waiting = callUnary(
      address,
      leases,
      acquire,
      acquireOf(key("plain"), { claimant: { holder: "w" }, wait: {} }),
    );
    const { released } = await callUnary(
      address,
      leases,
      release,
      LeaseServiceReleaseRequest.fromPartial({ items: [{ lease: key("plain"), token }] }),
    );
    expect(released).toEqual([true]);
    expect((await waiting).grants[0]?.hold?.holder).toBe("w");
  });

  it("that is given up leaves the queue", async () => {
    const { grants } = await callUnary(address, leases, acquire, acquireOf(key("given-up")));
    const waiting = acquireOf(key("given-up"), { claimant: { holder: "w" }, wait: {} });
    const error = await callUnary(address, leases, acquire, waiting, 300).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 4 });
    const items = [{ lease: key("given-up"), token: grants[0]?.hold?.token ?? 0n }];
    await callUnary(address, leases, release, LeaseServiceReleaseRequest.fromPartial({ items }));
    expect((await stateOf("given-up"))?.holds).toEqual([]);
  });
});

describe("bad input", () => {
  const names: readonly (readonly [string, object | undefined, string])[] = [
    ["no claims", undefined, "claims"],
    ["an empty name", { namespace: "n", name: "" }, "claims[0].lease.name"],
    ["an empty namespace", { namespace: "", name: "x" }, "claims[0].lease.namespace"],
    ["a name of 254 bytes", { namespace: "n", name: "x".repeat(254) }, "claims[0].lease.name"],
    ["a wildcard *", { namespace: "n", name: "*" }, "claims[0].lease.name"],
    ["a wildcard >", { namespace: "n", name: "a.>" }, "claims[0].lease.name"],
    ["a namespace with a dot and a wildcard", { namespace: "n.*", name: "x" }, "claims[0].lease.namespace"],
    ["a line break", { namespace: "n", name: "a\r\nb" }, "claims[0].lease.name"],
    ["a slash in the namespace", { namespace: "a/b", name: "x" }, "claims[0].lease.namespace"],
  ];

  it.each(names)("%s is refused with field and rule, and nothing changes", async (_, lease, field) => {
    const fault = await refused(leases, acquire, acquireOf(lease));
    expect(fault).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
    const violation = fault.details.violations?.find((one) => one.field === field);
    expect(violation?.rule).toMatch(/^must/);
    const everything = list.requestType.fromPartial({ selector: { namespace: "n" } });
    expect((await callUnary(address, leases, list, everything)).leases).toEqual([]);
  });

  it("a missing lease is refused by every call that needs one", async () => {
    const calls = [
      refused(leases, get, { lease: undefined, read: undefined }),
      refused(leases, create, LeaseServiceCreateRequest.fromPartial({})),
      refused(leases, update, LeaseServiceUpdateRequest.fromPartial({ spec: {} })),
      refused(leases, remove, remove.requestType.fromPartial({})),
      refused(leases, release, LeaseServiceReleaseRequest.fromPartial({})),
      refused(leases, renew, LeaseServiceRenewRequest.fromPartial({ renewals: [{ token: 1n }] })),
      refused(guards, put, GuardServicePutRequest.fromPartial({ key: "k" })),
    ];
    for (const fault of await Promise.all(calls)) {
      expect(fault).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
      expect(fault.details.violations?.length).toBeGreaterThan(0);
    }
  });

  it("bytes that are no message are refused", async () => {
    const bytes = { encode: () => ({ finish: () => Uint8Array.of(0x0a, 0xff, 0x01) }), decode: () => undefined };
    const fault = await refused(leases, { name: "Acquire", requestType: bytes, responseType: bytes }, undefined);
    expect(fault).toMatchObject({ code: "INVALID_ARGUMENT", reason: "MALFORMED_MESSAGE" });
  });

  it("a wrong wire type is refused", async () => {
    // Field 2, claims, as a number.
    const bytes = { encode: () => ({ finish: () => Uint8Array.of(0x10, 0x05) }), decode: () => undefined };
    const fault = await refused(leases, { name: "Acquire", requestType: bytes, responseType: bytes }, undefined);
    expect(fault.code).toBe("INVALID_ARGUMENT");
  });

  it("a stale revision is refused with the present one", async () => {
    const created = LeaseServiceCreateRequest.fromPartial({ lease: key("stale") });
    const { lease } = await callUnary(address, leases, create, created);
    const request = LeaseServiceUpdateRequest.fromPartial({
      lease: key("stale"),
      spec: { labels: { a: "b" } },
      updateMask: ["labels"],
      expectedRevision: (lease?.revision ?? 0n) - 1n,
    });
    const fault = await refused(leases, update, request);
    expect(fault).toMatchObject({
      code: "ABORTED",
      reason: "REVISION_CONFLICT",
      details: { revision: lease?.revision },
    });
    expect((await stateOf("stale"))?.revision).toBe(lease?.revision);
  });

  it("a foreign or stale token is refused and changes nothing", async () => {
    using session = await TestSession.open(address, "tokens");
    const { hold } = await take(session, "fenced", "h");
    for (const token of [hold.token - 1n, hold.token + 1n]) {
      const write = GuardServicePutRequest.fromPartial({
        fence: { lease: key("fenced"), token },
        key: "k",
        value: new Uint8Array(1),
      });
      const fault = await refused(guards, put, write);
      expect(fault.code).toBe("FAILED_PRECONDITION");
      expect(["FENCED", "NOT_HOLDER"]).toContain(fault.reason);
      const items = [{ lease: key("fenced"), token }];
      const answer = await callUnary(address, leases, release, LeaseServiceReleaseRequest.fromPartial({ items }));
      expect(answer.released).toEqual([false]);
    }
    expect((await stateOf("fenced"))?.holds[0]?.token).toBe(hold.token);
  });

  it("breaks a session with a typed fault when it is about the session itself", async () => {
    using unnamed = new TestSession(address, "");
    unnamed.send({ hello: { clientId: "not a name" } });
    using rude = new TestSession(address, "rude");
    rude.send({ renewals: new Uint8Array(0) });
    using twice = await TestSession.open(address, "twice");
    twice.send({ hello: { clientId: "twice" } });
    using packed = await TestSession.open(address, "packed");
    packed.send({ renewals: Uint8Array.of(1, 2, 3) });
    using numbers = await TestSession.open(address, "numbers");
    numbers.sendNumber -= 1n;
    numbers.send({});
    for (const session of [unnamed, rude, twice, packed, numbers]) {
      await expect.poll(() => session.error, { timeout: 20_000 }).toBeDefined();
      expect(faultOf(session.error).code).toBe("INVALID_ARGUMENT");
    }
  });

  it("answers an unknown method of a session with UNIMPLEMENTED and goes on", async () => {
    using session = await TestSession.open(address, "unknown");
    session.callNumber += 1n;
    session.send({ calls: [{ number: session.callNumber, method: "LeaseService.KeepAlive" }] });
    const reply = await session.replyOf(session.callNumber);
    expect(reply).toMatchObject({
      end: true,
      outcome: { value: { code: 12, detail: { reasonName: "METHOD_UNKNOWN" } } },
    });
    await take(session, "after-unknown", "h");
  });
});

describe("a principal", () => {
  it("alone renews, releases and writes under the term that it acquired", async () => {
    const store = (principal: string) => createClient(deployment.bus, LeaseServiceDefinition, { principal });
    const { grants } = await store("ann").acquire(acquireOf(key("bound")));
    const token = grants[0]?.hold?.token ?? 0n;
    const items = [{ lease: key("bound"), token }];
    const mismatch = { code: "PERMISSION_DENIED", reason: "PRINCIPAL_MISMATCH" };
    const { results } = await callUnary(
      address,
      leases,
      renew,
      LeaseServiceRenewRequest.fromPartial({ renewals: [{ lease: key("bound"), token, sendNumber: 1n }] }),
    );
    expect(results[0]?.failure?.detail?.reasonName).toBe("PRINCIPAL_MISMATCH");
    const fence = { lease: key("bound"), token };
    expect(await refused(guards, put, GuardServicePutRequest.fromPartial({ fence, key: "k" }))).toMatchObject(mismatch);
    const foreign = await callUnary(address, leases, release, LeaseServiceReleaseRequest.fromPartial({ items })).then(
      ({ released }) => released,
      (error: unknown) => faultOf(error).reason,
    );
    expect([[false], "PRINCIPAL_MISMATCH"]).toContainEqual(foreign);
    const own = await store("ann").release(LeaseServiceReleaseRequest.fromPartial({ items }));
    expect(own.released).toEqual([true]);
  });
});
