import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openSession, type Session } from "@tenure/sdk/session";
import { freePort, startDeployment, tempDirectory, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { claimOf, keptOf, Notes, only } from "./claims.ts";
import { startSessionDeployment, timing } from "./deployment.ts";

/** Claims, renews, is queued behind itself, and releases. */
async function useSession(session: Session, name: string): Promise<void> {
  const granted = only(await session.claim(claimOf("a", [name])));
  const notes = new Notes();
  using _keeping = session.keep(keptOf(granted), notes);
  await waitFor(() => notes.renewed.length >= 3, { describe: "renewals", timeoutMs: 30_000 });
  const waiting = session.claim(claimOf("b", [name]), { waitMs: "forever" });
  const { lease, token } = keptOf(granted);
  await session.release([{ lease, token }]);
  expect(only(await waiting).grant.hold?.holder).toBe("b");
}

describe("a secured deployment", () => {
  it("serves applications that sign in to NATS as components, from both threads, and nothing more", async () => {
    await using deployment = await startDeployment({ services: { "lease-store": 1 }, isSecured: true });
    const { nats } = deployment;
    for (const renewal of ["inline", "thread"] as const) {
      const options = { servers: [nats.url], nkeySeed: readFileSync(nats.nkeyFile("component")), principal: "app" };
      await using session = await openSession({ nats: options, renewal, ...timing });
      await useSession(session, renewal);
    }
    const stranger = openSession({ nats: { servers: [nats.url] }, ...timing });
    await expect(stranger).rejects.toMatchObject({ name: "TenureError", code: "UNAUTHENTICATED", retryable: false });
  }, 120_000);

  it("serves gRPC over TLS to clients that trust it, from both threads, and to no other", async () => {
    await using deployment = await startSessionDeployment(1);
    await using folder = await tempDirectory();
    const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
    const subject = ["-subj", "/CN=gateway.test", "-addext", "subjectAltName=DNS:gateway.test"];
    const what = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert];
    execFileSync("openssl", [...what, ...subject], { stdio: "ignore" });
    await deployment.start("gateway", "gateway-tls", [`--tls-cert-file=${cert}`, `--tls-key-file=${key}`]);
    const endpoints = [`https://${deployment.grpc("gateway-tls")}`];
    const ca = readFileSync(cert, "utf8");
    for (const renewal of ["inline", "thread"] as const) {
      const grpc = { endpoints, tls: { ca, serverName: "gateway.test" } };
      await using session = await openSession({ grpc, renewal, ...timing });
      await useSession(session, renewal);
    }
    const distrustful = openSession({ grpc: { endpoints }, ...timing, connectTimeoutMs: 1_000 });
    await expect(distrustful).rejects.toMatchObject({ name: "TenureError", code: "UNAVAILABLE" });
    await expect(distrustful).rejects.toThrow(/certificate/i);
  }, 120_000);

  it("finds the gateway that answers among several endpoints", async () => {
    await using deployment = await startSessionDeployment(1);
    const dead = await freePort();
    const endpoints = [`127.0.0.1:${dead}`, `http://${deployment.grpc()}`, "does-not-exist.invalid:1"];
    for (let round = 0; round < 5; round += 1) {
      await using session = await openSession({ grpc: { endpoints }, renewal: "inline", ...timing });
      expect(session.state).toBe("connected");
    }
  }, 120_000);
});
