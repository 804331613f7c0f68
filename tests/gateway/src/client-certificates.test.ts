import { once } from "node:events";
import { connect as openSecure } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { LeaseServiceAcquireRequest, LeaseServiceDefinition, LeaseServiceGetRequest } from "@tenure/contracts";
import { connect } from "@tenure/sdk";
import { type Deployment, startDeployment, type TempDirectory, tempDirectory } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authority, type Certificate } from "./certificates.ts";
import { runCli } from "./command-line.ts";
import { key, leases } from "./requests.ts";
import { type CallWay, callUnary, faultOf, TestSession } from "./test-session.ts";
import { untilRenewed } from "./until-renewed.ts";

const billing = "spiffe://example.org/billing";
const { acquire, get } = LeaseServiceDefinition.methods;

let folder: TempDirectory;
let authority: Authority;
let client: Certificate;
let deployment: Deployment;
let address: string;

beforeAll(async () => {
  folder = await tempDirectory();
  authority = await Authority.make(folder.path, "authority");
  const server = await authority.sign("server", "DNS:localhost,IP:127.0.0.1");
  client = await authority.sign("billing", `DNS:billing.example.org,URI:${billing},URI:spiffe://example.org/other`);
  const pair = [`--tls-cert-file=${server.cert}`, `--tls-key-file=${server.key}`];
  deployment = await startDeployment({ args: { gateway: [...pair, `--tls-client-ca-file=${authority.file}`] } });
  address = deployment.grpc();
}, 120_000);

afterAll(async () => {
  await deployment?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
}, 120_000);

function acquireOf(name: string): LeaseServiceAcquireRequest {
  return LeaseServiceAcquireRequest.fromPartial({ claims: [{ lease: key(name) }], claimant: { holder: "h" } });
}

/** The gRPC code of a read that fails. */
async function codeOf(way: CallWay): Promise<number> {
  const request = LeaseServiceGetRequest.fromPartial({ lease: key("anything") });
  return await callUnary(address, leases, get, request, 5_000, way).then(
    () => 0,
    (error: { readonly code: number }) => error.code,
  );
}

describe("a gateway that asks its clients for certificates", () => {
  it("takes the first URI of the certificate as the principal of plain calls, whatever the headers say", async () => {
    const headers = { "tenure-principal": "root", "Tenure-Principal": "root", authorization: "Bearer root" };
    const way = { channel: await authority.credentials(client), headers };
    const { grants } = await callUnary(address, leases, acquire, acquireOf("plain"), 30_000, way);
    expect(grants[0]?.hold).toMatchObject({ holder: "h", principal: billing });
  });

  it("takes it as the principal of sessions of stock clients", async () => {
    using session = await TestSession.open(address, "c1", {}, await authority.credentials(client));
    expect(session.messages[0]?.welcome?.principal).toBe(billing);
    const { grants } = await session.call(leases, acquire, acquireOf("session"));
    expect(grants[0]?.hold?.principal).toBe(billing);
  });

  it("takes it as the principal of the SDK, from both threads, whatever its metadata says", async () => {
    const metadata = { "tenure-principal": "root", authorization: "Bearer root" };
    for (const renewal of ["inline", "thread"] as const) {
      const tls = await authority.tls(client);
      await using tenure = await connect({ endpoint: address, tls, namespace: "gateway", renewal, metadata });
      expect(tenure.principal).toBe(billing);
      const { lease } = await deployment.leases.get(LeaseServiceGetRequest.fromPartial({ lease: key("plain") }));
      expect(lease?.holds[0]?.principal).toBe(billing);
      await using lock = await tenure.lock(`sdk-${renewal}`);
      await untilRenewed(lock);
    }
  }, 60_000);

  it("serves the command line with a certificate, and tells it why it does not without one", async () => {
    const trust = { TENURE_ENDPOINT: address, TENURE_TLS_CA: authority.file };
    const files = { TENURE_TLS_CERT: client.cert, TENURE_TLS_KEY: client.key };
    const seen = await runCli("leases list --namespace gateway", { ...trust, ...files });
    expect(seen.text).toContain("plain");
    expect(seen.code).toBe(0);
    const refused = await runCli("leases list --timeout 2s", trust);
    expect(refused.code).toBe(1);
    expect(refused.text).toMatch(/certificate required/);
  }, 60_000);

  it("refuses a certificate of another authority, none at all, and plain text", async () => {
    const foreign = await Authority.make(folder.path, "foreign");
    const stranger = await foreign.sign("stranger", `URI:${billing}`);
    const channels = [
      await authority.credentials(stranger),
      await authority.credentials(),
      credentials.createInsecure(),
    ];
    // A connection that is refused is UNAVAILABLE, or tried again until the deadline.
    for (const channel of channels) expect([4, 14]).toContain(await codeOf({ channel }));
    const tls = await authority.tls(stranger);
    const refused = connect({ endpoint: address, tls, renewal: "inline", connectTimeout: "2s" });
    await expect(refused).rejects.toMatchObject({ name: "TenureError", code: "UNAVAILABLE" });
  }, 60_000);

  it("refuses them before a byte of a call is read", async () => {
    const { ca } = await authority.tls();
    const port = Number(address.split(":")[1]);
    const socket = openSecure({ port, host: "127.0.0.1", ca, servername: "localhost", ALPNProtocols: ["h2"] });
    const failed = once(socket, "error");
    socket.resume();
    expect(String((await failed)[0])).toMatch(/certificate required/);
  });

  it.each([
    ["no alternative name but a host's", "DNS:billing.example.org", "has no URI as alternative name"],
    ["another kind of URI", "URI:https://example.org/billing", "as its first URI"],
  ])("refuses a certificate with %s, also if its common name is a principal", async (_, names, why) => {
    const nameless = await authority.sign("nameless", names, billing.replaceAll("/", "\\/"));
    const channel = await authority.credentials(nameless);
    const request = LeaseServiceGetRequest.fromPartial({ lease: key("anything") });
    const refusal = await callUnary(address, leases, get, request, 5_000, { channel }).catch(faultOf);
    expect(refusal).toMatchObject({ code: "UNAUTHENTICATED", reason: "CREDENTIALS_INVALID" });
    expect(String((refusal as { message: string }).message)).toContain(why);
    using session = await TestSession.open(address, "c2", {}, channel);
    expect(faultOf(session.error)).toMatchObject({ code: "UNAUTHENTICATED", reason: "CREDENTIALS_INVALID" });
    const tls = await authority.tls(nameless);
    const refused = connect({ endpoint: address, tls, renewal: "inline", connectTimeout: "5s" });
    await expect(refused).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("keeps the terms of one principal from another", async () => {
    const other = await authority.sign("shipping", "URI:spiffe://example.org/shipping");
    const mine = { channel: await authority.credentials(client) };
    const { grants } = await callUnary(address, leases, acquire, acquireOf("kept"), 30_000, mine);
    const { release } = LeaseServiceDefinition.methods;
    const items = [{ lease: key("kept"), token: grants[0]?.hold?.token ?? 0n }];
    const request = release.requestType.fromPartial({ items });
    const theirs = { channel: await authority.credentials(other) };
    const foreign = await callUnary(address, leases, release, request, 30_000, theirs).then(
      ({ released }) => released,
      (error: unknown) => faultOf(error).reason,
    );
    expect([[false], "PRINCIPAL_MISMATCH"]).toContainEqual(foreign);
    expect((await callUnary(address, leases, release, request, 30_000, mine)).released).toEqual([true]);
  });

  it("does not start without a certificate of its own, and says what is missing", async () => {
    const refused = await deployment.start("gateway", "half", [`--tls-client-ca-file=${authority.file}`]);
    const { code } = await refused.waitForExit({ timeoutMs: 30_000 });
    deployment.processes.delete("half");
    expect(code).toBe(2);
    expect(refused.output.all.join("\n")).toContain(
      "tls-client-ca-file needs tls-cert-file and tls-key-file to be set, too",
    );
  });
});
