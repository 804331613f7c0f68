import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, credentials } from "@grpc/grpc-js";
import { type Deployment, startDeployment, type TempDirectory, tempDirectory } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder: TempDirectory;
let deployment: Deployment;

beforeAll(async () => {
  folder = await tempDirectory();
  const files = ["-keyout", join(folder.path, "key.pem"), "-out", join(folder.path, "cert.pem")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await promisify(execFile)("openssl", ["req", "-x509", "-days", "2", ...key, ...names, ...files]);
  const pair = [`--tls-cert-file=${join(folder.path, "cert.pem")}`, `--tls-key-file=${join(folder.path, "key.pem")}`];
  deployment = await startDeployment({ args: { gateway: ["--grpc-host=0.0.0.0", ...pair] } });
}, 120_000);

afterAll(async () => {
  await deployment?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
}, 120_000);

/** Asks the health service; gives the code of the failure, or 0. */
function check(client: Client): Promise<number> {
  const bytes = (message: Buffer) => message;
  const deadline = Date.now() + 5_000;
  return new Promise((resolve) => {
    const answered = (error: { readonly code: number } | null) => resolve(error?.code ?? 0);
    client.makeUnaryRequest("/grpc.health.v1.Health/Check", bytes, bytes, Buffer.alloc(0), { deadline }, answered);
  });
}

describe("a gateway with TLS", () => {
  it("serves a network to those who trust its certificate, and nobody in plain text", async () => {
    const address = deployment.grpc("gateway-1").replace("127.0.0.1", "localhost");
    const trusting = new Client(address, credentials.createSsl(await readFile(join(folder.path, "cert.pem"))));
    const doubting = new Client(address, credentials.createSsl());
    const plain = new Client(address, credentials.createInsecure());
    expect(await check(trusting)).toBe(0);
    expect([await check(doubting), await check(plain)].every((code) => code === 14 || code === 4)).toBe(true);
    for (const client of [trusting, doubting, plain]) client.close();
  });

  it("without a certificate refuses to start on a network, and says what to do", async () => {
    const refused = await deployment.start("gateway", "open", ["--grpc-host=0.0.0.0"]);
    const { code } = await refused.waitForExit({ timeoutMs: 30_000 });
    deployment.processes.delete("open");
    expect(code).not.toBe(0);
    expect(refused.output.all.join("\n")).toContain("grpc-host without TLS would be open to its network");
  });
});
