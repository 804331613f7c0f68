import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, type ServiceError } from "@grpc/grpc-js";
import { serve } from "@tenure/bus";
import {
  encodeRenewals,
  LeaseServiceAcquireRequest,
  LeaseServiceDefinition,
  LeaseServiceGetRequest,
  LeaseServiceListRequest,
  LeaseServiceRevokeRequest,
  LeaseServiceWatchRequest,
  MigrationServiceDefinition,
  MigrationServiceGetResponse,
} from "@tenure/contracts";
import { connect } from "@tenure/sdk";
import { type Deployment, startDeployment, type TempDirectory, tempDirectory, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authority, type Certificate } from "./certificates.ts";
import { runCli } from "./command-line.ts";
import { key, leases } from "./requests.ts";
import { callUnary, faultOf, type Method, TestSession } from "./test-session.ts";
import { untilRenewed } from "./until-renewed.ts";

const { acquire, get, list, revoke } = LeaseServiceDefinition.methods;
const migrations = "tenure.v1.MigrationService";
const domain = "spiffe://example.org";
const billing = `${domain}/billing`;

const rules = [
  { principals: [billing], namespaces: ["gateway"], names: ["billing-*"], verbs: ["observe", "lead"] },
  { principals: [`${domain}/ops`], namespaces: ["*"], verbs: ["observe", "operate"] },
  { principals: [`${domain}/app/*`, billing], namespaces: ["tenure-identities"], verbs: ["lead"] },
];
/** The same without the right of billing to lead. */
const narrowed = [{ ...rules[0], verbs: ["observe"] }, ...rules.slice(1)];

let folder: TempDirectory;
let authority: Authority;
let deployment: Deployment;
let address: string;
let secured: readonly string[];
const clients: Record<string, Certificate> = {};

beforeAll(async () => {
  folder = await tempDirectory();
  authority = await Authority.make(folder.path, "authority");
  const server = await authority.sign("server", "DNS:localhost,IP:127.0.0.1");
  for (const name of ["billing", "ops", "nobody"]) clients[name] = await authority.sign(name, `URI:${domain}/${name}`);
  secured = [
    `--tls-cert-file=${server.cert}`,
    `--tls-key-file=${server.key}`,
    `--tls-client-ca-file=${authority.file}`,
  ];
  const policy = await policyFile("policy.json", rules);
  deployment = await startDeployment({
    services: { "lease-store": 1, identity: 1, gateway: 1 },
    args: { gateway: [...secured, `--policy-file=${policy}`] },
  });
  address = deployment.grpc();
}, 120_000);

afterAll(async () => {
  await deployment?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
}, 120_000);

async function policyFile(name: string, rules: unknown): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, JSON.stringify({ rules }));
  return path;
}

/** A plain call of a client; its fault if it fails. */
async function call<Request, Response>(
  who: string,
  service: Parameters<typeof callUnary>[1],
  method: Method<Request, Response>,
  request: Request,
) {
  const channel = await authority.credentials(clients[who]);
  return await callUnary(address, service, method, request, 30_000, { channel }).catch((error) => faultOf(error));
}

const acquireOf = (...names: string[]) =>
  LeaseServiceAcquireRequest.fromPartial({
    claims: names.map((name) => ({ lease: key(name) })),
    claimant: { holder: "h" },
  });
const getOf = (name: string) => LeaseServiceGetRequest.fromPartial({ lease: key(name) });
const listOf = (selector: object) => LeaseServiceListRequest.fromPartial({ selector });

/** What a denied call is answered with. */
function denied(who: string, verb: string, namespace: string, name: string) {
  const attributes = { principal: `${domain}/${who}`, verb, namespace, name };
  return { code: "PERMISSION_DENIED", reason: "NOT_ALLOWED", details: { applied: "NO", attributes } };
}

/** What a stream of messages of one client ends with. */
async function endOf(who: string, path: string, messages: readonly Uint8Array[]): Promise<ServiceError | undefined> {
  const client = new Client(address, await authority.credentials(clients[who]));
  const pass = (bytes: Buffer) => bytes;
  const stream = client.makeBidiStreamRequest(path, pass, pass);
  const error = await new Promise<ServiceError | undefined>((resolve) => {
    stream.on("error", resolve);
    stream.on("end", () => resolve(undefined));
    stream.resume();
    for (const message of messages) stream.write(Buffer.from(message));
    stream.end();
  });
  client.close();
  return error;
}

describe("a gateway with a policy", () => {
  it("lets plain calls pass that a rule allows, and denies the others with who needs what where", async () => {
    expect(await call("billing", leases, acquire, acquireOf("billing-a"))).toMatchObject({
      grants: [{ hold: { principal: billing } }],
    });
    const other = await call("billing", leases, acquire, acquireOf("other"));
    expect(other).toMatchObject(denied("billing", "lead", "gateway", "other"));
    const both = await call("billing", leases, acquire, acquireOf("billing-b:x", "other"));
    expect(both).toMatchObject(denied("billing", "lead", "gateway", "other"));
    for (const name of ["other", "billing-b:x"]) {
      await expect(deployment.leases.get(getOf(name))).rejects.toMatchObject({ reason: "LEASE_NOT_FOUND" });
    }
  });

  it("sends nothing of a denied call to the services", async () => {
    const asked: string[] = [];
    await using _server = serve(deployment.bus, MigrationServiceDefinition, {
      get({ name }, { principal }) {
        asked.push(`${principal} ${name}`);
        return MigrationServiceGetResponse.fromPartial({});
      },
    });
    await deployment.bus.flush();
    const { get: migration } = MigrationServiceDefinition.methods;
    const request = (name: string) => migration.requestType.fromPartial({ namespace: "gateway", name });
    expect(await call("billing", migrations, migration, request("m"))).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await call("nobody", migrations, migration, request("m"))).toMatchObject({ code: "PERMISSION_DENIED" });
    using session = await TestSession.open(address, "m", {}, await authority.credentials(clients.billing));
    await expect(session.call(migrations, migration, request("m"))).rejects.toMatchObject({ reason: "NOT_ALLOWED" });
    await call("ops", migrations, migration, request("seen"));
    expect(asked).toEqual([`${domain}/ops seen`]);
  });

  it("keeps what is others' to those who may operate", async () => {
    await call("billing", leases, acquire, acquireOf("billing-revoked"));
    const { lease } = await deployment.leases.get(getOf("billing-revoked"));
    const request = LeaseServiceRevokeRequest.fromPartial({
      lease: key("billing-revoked"),
      expectedRevision: lease?.revision ?? 0n,
      note: { reason: "drill" },
    });
    const refused = await call("billing", leases, revoke, request);
    expect(refused).toMatchObject(denied("billing", "operate", "gateway", "billing-revoked"));
    expect(await call("ops", leases, revoke, request)).toMatchObject({ lease: { key: key("billing-revoked") } });
    const claim = await call("ops", leases, acquire, acquireOf("billing-z"));
    expect(claim).toMatchObject(denied("ops", "lead", "gateway", "billing-z"));
  });

  it("lists what lies within a rule, and everything to those who may observe everything", async () => {
    const within = await call("billing", leases, list, listOf({ namespace: "gateway", namePrefix: "billing-" }));
    expect(within).toMatchObject({ leases: expect.any(Array) });
    const all = [listOf({}), LeaseServiceListRequest.fromPartial({})];
    for (const request of all) {
      expect(await call("billing", leases, list, request)).toMatchObject(denied("billing", "observe", "*", ""));
      expect(await call("ops", leases, list, request)).toMatchObject({ leases: expect.any(Array) });
    }
    expect(await call("billing", leases, list, listOf({ namespace: "gateway" }))).toMatchObject(
      denied("billing", "observe", "gateway", ""),
    );
    expect(await call("billing", leases, list, listOf({ namespace: "gateway", namePrefix: "b" }))).toMatchObject(
      denied("billing", "observe", "gateway", "b*"),
    );
  });

  it("judges each call of a session, streams among them, and the session goes on", async () => {
    using session = await TestSession.open(address, "s", {}, await authority.credentials(clients.billing));
    const { watch } = LeaseServiceDefinition.methods;
    const watchOf = (name: string) => LeaseServiceWatchRequest.fromPartial({ selectors: [key(name)] });
    await expect(session.call(leases, acquire, acquireOf("other"))).rejects.toMatchObject(
      denied("billing", "lead", "gateway", "other"),
    );
    await expect(session.call(leases, watch, watchOf("other"))).rejects.toMatchObject(
      denied("billing", "observe", "gateway", "other"),
    );
    const { grants } = await session.call(leases, acquire, acquireOf("billing-s"));
    expect(grants[0]?.hold?.principal).toBe(billing);
    expect(await session.call(leases, watch, watchOf("billing-s"))).toMatchObject({ events: expect.any(Array) });
    expect(session.error).toBeUndefined();
  });

  it("ends a stream of a client with the first message that it may not send", async () => {
    const { keepAlive } = LeaseServiceDefinition.methods;
    const renewal = (name: string) =>
      keepAlive.requestType.fromPartial({ renewals: [{ lease: key(name), token: 1n }] });
    const [own, other] = ["billing-k", "other"].map((name) => keepAlive.requestType.encode(renewal(name)).finish());
    const path = "/tenure.v1.LeaseService/KeepAlive";
    expect(await endOf("billing", path, [new Uint8Array(0), own as Uint8Array])).toBeUndefined();
    const error = await endOf("billing", path, [own as Uint8Array, other as Uint8Array]);
    expect(faultOf(error)).toMatchObject(denied("billing", "lead", "gateway", "other"));
  });

  it("renews the terms of the SDK while other calls of it are denied, with an identity of its own", async () => {
    const tls = await authority.tls(clients.billing);
    const register = { component: "billing" };
    await using tenure = await connect({ endpoint: address, tls, namespace: "gateway", renewal: "inline", register });
    expect((await tenure.identity?.registered())?.profile?.component).toBe("billing");
    await using lock = await tenure.lock("billing-sdk");
    await expect(tenure.lock("other")).rejects.toMatchObject({ code: "PERMISSION_DENIED", reason: "NOT_ALLOWED" });
    await untilRenewed(lock);
    await expect(tenure.tryLock("another")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    lock.check();
  }, 60_000);

  it("tells the command line what it may not do", async () => {
    const files = (who: string) => ({
      TENURE_ENDPOINT: address,
      TENURE_TLS_CA: authority.file,
      TENURE_TLS_CERT: clients[who]?.cert ?? "",
      TENURE_TLS_KEY: clients[who]?.key ?? "",
      TENURE_AUTHORIZATION: "Bearer ops",
    });
    const refused = await runCli("leases list --namespace gateway", files("nobody"));
    expect(refused.code).toBe(1);
    expect(refused.text).toContain(`LeaseService.List needs observe on namespace gateway`);
    expect((await runCli("leases list --namespace gateway", files("ops"))).code).toBe(0);
  });

  it("answers health and reflection to every client with a certificate, and nothing else", async () => {
    const client = new Client(address, await authority.credentials(clients.nobody));
    const pass = (bytes: Buffer) => bytes;
    const health = await new Promise((resolve) => {
      client.makeUnaryRequest("/grpc.health.v1.Health/Check", pass, pass, Buffer.alloc(0), (error) => resolve(error));
    });
    client.close();
    expect(health).toBeNull();
    const listServices = Buffer.from([0x3a, 0x00]);
    const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    expect(await endOf("nobody", reflection, [listServices])).toBeUndefined();
    expect(await call("nobody", leases, get, getOf("billing-a"))).toMatchObject(
      denied("nobody", "observe", "gateway", "billing-a"),
    );
  });

  it("refuses renewals of a term whose holder may not lead any more", async () => {
    const narrow = await policyFile("narrow.json", narrowed);
    await deployment.start("gateway", "gateway-2", [...secured, `--policy-file=${narrow}`]);
    await deployment.ready();
    const channel = await authority.credentials(clients.billing);
    using wide = await TestSession.open(address, "w", {}, channel);
    const { grants } = await wide.call(leases, acquire, acquireOf("billing-w"));
    const { holdId = 0n, partition = 0 } = grants[0]?.hold ?? {};
    const renewals = (sendNumber: number) => encodeRenewals([{ partition, sendNumber, holdIds: [Number(holdId)] }]);
    wide.send({ renewals: renewals(7) });
    await waitFor(() => wide.acks.length === 1, { describe: "a renewal" });
    using narrowSession = await TestSession.open(deployment.grpc("gateway-2"), "w", {}, channel);
    // Until the other gateway has read of the term it leaves renewals to the term's owner.
    let sendNumber = 8;
    await waitFor(
      () => {
        narrowSession.send({ renewals: renewals(sendNumber) });
        sendNumber += 1;
        return narrowSession.refusals.length > 0;
      },
      { describe: "a refusal" },
    );
    expect(narrowSession.refusals[0]?.failure?.detail).toMatchObject({
      reasonName: "NOT_ALLOWED",
      attributes: { verb: "lead", name: "billing-w" },
    });
    expect(wide.refusals).toEqual([]);
  });

  it("counts what it denies, by verb, and logs each", async () => {
    const metrics = async () => await (await fetch(`${deployment.http("gateway-1")}/metrics`)).text();
    const counted = async (verb: string) =>
      Number(
        new RegExp(`tenure_gateway_denied_calls_total\\{verb="${verb}"[^}]*\\} (\\d+)`).exec(await metrics())?.[1],
      );
    const before = await counted("operate");
    const request = LeaseServiceRevokeRequest.fromPartial({ lease: key("logged") });
    await call("billing", leases, revoke, request);
    expect(await counted("operate")).toBe(before + 1);
    expect(await counted("observe")).toBeGreaterThan(0);
    const lines = deployment.process("gateway-1").output.all.filter((line) => line.includes("a call was denied"));
    const logged = lines.map((line) => JSON.parse(line)).find(({ name }) => name === "logged");
    expect(logged).toMatchObject({
      level: "warn",
      principal: billing,
      method: "LeaseService.Revoke",
      verb: "operate",
      namespace: "gateway",
    });
  });

  it("does not start with a policy that it does not understand, or that has nobody to be about", async () => {
    const wrong = await policyFile("wrong.json", [{ ...rules[0], verbs: ["lead", "rule"], roles: [] }]);
    const cases: [readonly string[], readonly string[]][] = [
      [
        [...secured, `--policy-file=${wrong}`],
        ['rules[0].verbs[1] must be observe, lead, operate (got "rule")', "rules[0].roles is no key of a policy"],
      ],
      [[`--policy-file=${wrong}`], ["policy-file needs tls-client-ca-file to be set, too"]],
    ];
    for (const [args, texts] of cases) {
      const refused = await deployment.start("gateway", "wrong", args);
      const { code } = await refused.waitForExit({ timeoutMs: 30_000 });
      deployment.processes.delete("wrong");
      expect(code).toBe(2);
      for (const text of texts) expect(refused.output.all.join("\n")).toContain(text);
    }
  });
});
