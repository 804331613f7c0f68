import { freePort, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./repository.ts";
import { runCommand } from "./run-command.ts";

// Builds images and runs a dozen containers, so only `npm run test:long` does it, where Docker is.
const isLong = process.env.TENURE_LONG === "1";

let environment: Record<string, string>;
let http: string;

/** Runs compose on a project of its own and expects it to succeed. */
async function compose(...args: readonly string[]): Promise<string> {
  const file = ["compose", "--project-name", "tenure-test", "--file", `${root}compose.yaml`];
  const { code, stdout, stderr } = await runCommand("docker", [...file, ...args], environment);
  expect(code, `docker compose ${args.join(" ")}:\n${stderr}`).toBe(0);
  return stdout;
}

/** What `examples/status.mjs` prints: a gRPC call through front, gateway and bus. */
async function status(): Promise<string> {
  const { stdout } = await runCommand(process.execPath, [
    `${root}examples/status.mjs`,
    `127.0.0.1:${environment.TENURE_GRPC_PORT}`,
  ]);
  return stdout;
}

describe.runIf(isLong)("docker compose up", () => {
  beforeAll(async () => {
    const [grpcPort, httpPort] = [await freePort(), await freePort()];
    http = `http://127.0.0.1:${httpPort}`;
    environment = {
      TENURE_GRPC_PORT: String(grpcPort),
      TENURE_HTTP_PORT: String(httpPort),
      TENURE_BUILD_NETWORK: "host",
    };
    await compose("up", "--detach", "--build", "--wait");
  }, 900_000);
  afterAll(() => compose("down", "--volumes", "--timeout", "20"), 180_000);

  it("brings every service to healthy, and a call through the stack succeeds", async () => {
    expect((await fetch(`${http}/readyz`)).status).toBe(200);
    const lines = (await status()).split("\n");
    expect(lines[0]).toMatch(/^ready, version /);
    for (const service of ["lease-store", "identity", "election", "migration", "gateway"]) {
      expect(lines.some((line) => line.startsWith(service) && line.includes(" ready "))).toBe(true);
    }
  }, 120_000);

  it("has the command line", async () => {
    expect(await compose("run", "--rm", "--no-TTY", "tenure", "leases", "--output", "json")).toBe("[]\n");
    expect(await compose("run", "--rm", "--no-TTY", "tenure", "status")).toMatch(/ready/);
  }, 120_000);

  it("scales a service", async () => {
    await compose("up", "--detach", "--wait", "--scale", "election=3");
    await waitFor(async () => (await status()).split("\n").filter((line) => line.startsWith("election")).length === 3, {
      describe: "three instances of election",
      timeoutMs: 60_000,
    });
  }, 300_000);

  it("serves on when a NATS server is killed, and takes it back", async () => {
    await compose("kill", "--signal", "SIGKILL", "nats-1");
    await waitFor(async () => (await status()).startsWith("ready"), {
      describe: "the system to serve on two NATS servers",
      timeoutMs: 60_000,
    });
    await compose("up", "--detach", "--wait");
    expect(await status()).toMatch(/^ready/);
  }, 300_000);

  it("keeps its data over down and up", async () => {
    const before = await compose("logs", "--no-color", "init");
    await compose("down", "--timeout", "20");
    await compose("up", "--detach", "--wait");
    expect(before).toContain("created incarnation");
    expect(await compose("logs", "--no-color", "init")).toContain("already initialized");
  }, 400_000);
});
