import { createServer, type Server } from "node:net";
import { SystemServiceDefinition } from "@tenure/contracts";
import { freePort, startNats, tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { callUnary } from "./grpc.ts";
import { launch, spawnLauncher } from "./launch.ts";

const { status } = SystemServiceDefinition.methods;

/** A server that takes connections and never says a word. */
async function silentServer(): Promise<{ port: number; server: Server }> {
  const port = await freePort();
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { port, server };
}

describe("npm start with TENURE_NATS_URL", () => {
  it("makes the streams there once, runs on them, and continues from them", async () => {
    await using nats = await startNats();
    await using folder = await tempDirectory();
    const env = { TENURE_NATS_URL: nats.url };
    const first = await launch(folder.path, [], env);
    const before = await callUnary(first.grpc, SystemServiceDefinition, status, {});
    expect(first.process.output.all.join("\n")).toContain("(new)");
    expect(await first.interrupt()).toBe(0);

    await using second = await launch(folder.path, ["--fresh"], env);
    const after = await callUnary(second.grpc, SystemServiceDefinition, status, {});
    expect(after.incarnationId).toBe(before.incarnationId);
    expect(second.process.output.all.join("\n")).toContain("(continued from the last run)");
  }, 240_000);

  it("refuses a server that is too old, in one line, and makes nothing there", async () => {
    await using nats = await startNats({ version: "2.9.10" });
    await using folder = await tempDirectory();
    const start = spawnLauncher(["--port", "auto", "--data", folder.path], { TENURE_NATS_URL: nats.url });
    expect((await start.waitForExit({ timeoutMs: 60_000 })).code).toBe(1);
    expect(start.output.all.at(-1)).toContain("2.9.10");
    const { streams } = (await nats.monitor("/jsz")) as { streams: number };
    expect(streams).toBe(0);
  }, 120_000);

  it("never shows the password of the URL", async () => {
    await using folder = await tempDirectory();
    const port = await freePort();
    const env = { TENURE_NATS_URL: `nats://ann:hunter2@127.0.0.1:${port}` };
    const start = spawnLauncher(["--port", "auto", "--data", folder.path], env);
    expect((await start.waitForExit({ timeoutMs: 60_000 })).code).toBe(1);
    expect(start.output.all.join("\n")).toContain(`nats://***@127.0.0.1:${port}`);
    expect(start.output.all.join("\n")).not.toContain("hunter2");
  }, 120_000);

  it("stops at once on Ctrl-C while it waits for a server that never answers", async () => {
    const { port, server } = await silentServer();
    await using folder = await tempDirectory();
    const env = { TENURE_NATS_URL: `nats://127.0.0.1:${port}` };
    const start = spawnLauncher(["--port", "auto", "--data", folder.path], env);
    await start.waitForLine("making the streams");
    process.kill(start.pid, "SIGINT");
    // Far less than the 10 s that `init` would go on for.
    expect((await start.waitForExit({ timeoutMs: 8_000 })).code).toBe(0);
    server.close();
  }, 120_000);
});
