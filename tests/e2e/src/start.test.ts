import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, promisify } from "node:util";
import { Severity, SystemServiceDefinition } from "@tenure/contracts";
import { freePort, processState, tempDirectory, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { callUnary } from "./grpc.ts";
import { launch, spawnLauncher } from "./launch.ts";

const { status, doctor } = SystemServiceDefinition.methods;
const example = fileURLToPath(new URL("../../../examples/status.mjs", import.meta.url));

/** Every process of a system, from what it says about itself: the pid is part of an instance's name. */
async function pidsOf(grpc: string): Promise<readonly number[]> {
  const { services } = await callUnary(grpc, SystemServiceDefinition, status, {});
  return services.flatMap(({ instances }) => instances.map(({ instance }) => Number(instance.split("-").at(-2))));
}

describe("npm start", () => {
  it("serves, answers a call through the stack, stops in order, leaves no process and continues from its data", async () => {
    await using folder = await tempDirectory();
    const first = await launch(folder.path, ["--scale", "election=2"]);
    const expected = { "lease-store": 1, identity: 1, election: 2, migration: 1, gateway: 1 };
    await waitFor(
      async () => {
        const { services } = await callUnary(first.grpc, SystemServiceDefinition, status, {});
        const ready = services.map(({ service, instances }) => [
          service,
          instances.filter((each) => each.ready).length,
        ]);
        return isDeepStrictEqual(Object.fromEntries(ready), expected);
      },
      { describe: "every replica to be ready", timeoutMs: 60_000 },
    );
    const before = await callUnary(first.grpc, SystemServiceDefinition, status, {});
    expect(before).toMatchObject({ ready: true, notReadyReasons: [], mode: "development" });
    const ready = await fetch(`${first.http}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { ready: true, unmet: [] }]);
    expect(await (await fetch(`${first.http}/metrics`)).text()).toContain("tenure_ready");

    const checked = await callUnary(first.grpc, SystemServiceDefinition, doctor, { skipProbe: false });
    expect(checked.worst).toBeLessThan(Severity.UNSAFE);

    const { stdout } = await promisify(execFile)(process.execPath, [example, first.grpc]);
    expect(stdout).toMatch(/^ready, version \d+\.\d+\.\d+\nlease-store +ready/);

    const pids = await pidsOf(first.grpc);
    expect(await first.interrupt()).toBe(0);
    for (const pid of pids) expect(await processState(pid)).toBe("gone");

    await using second = await launch(folder.path);
    const after = await callUnary(second.grpc, SystemServiceDefinition, status, {});
    expect(after.incarnationId).toBe(before.incarnationId);
    expect(second.process.output.all.join("\n")).toContain("(continued from the last run)");
  }, 240_000);

  it("says not ready while a service is away, starts it again, and is ready again", async () => {
    await using folder = await tempDirectory();
    await using system = await launch(folder.path);
    const { services } = await callUnary(system.grpc, SystemServiceDefinition, status, {});
    const election = services.find(({ service }) => service === "election")?.instances[0]?.instance ?? "";
    process.kill(Number(election.split("-").at(-2)), "SIGKILL");
    await system.process.waitForLine("election was ended by SIGKILL; it is started again");
    await waitFor(
      async () => {
        const now = await callUnary(system.grpc, SystemServiceDefinition, status, {});
        const instances = now.services.find(({ service }) => service === "election")?.instances ?? [];
        return now.ready && instances.some(({ instance, ready }) => ready && instance !== election);
      },
      { describe: "another election instance to be ready", timeoutMs: 60_000 },
    );
  }, 240_000);

  it("leaves no process when it is killed with -9", async () => {
    await using folder = await tempDirectory();
    const system = await launch(folder.path);
    const pids = await pidsOf(system.grpc);
    await system.process.kill9();
    for (const pid of pids) {
      await waitFor(async () => (await processState(pid)) === "gone", {
        describe: `process ${pid} to be gone`,
        timeoutMs: 60_000,
      });
    }
  }, 240_000);

  it("names the owner of a taken port and starts nothing", async () => {
    await using folder = await tempDirectory();
    const port = await freePort();
    const owner = createServer();
    await new Promise<void>((resolve) => owner.listen(port, "127.0.0.1", resolve));
    const start = spawnLauncher(["--port", String(port), "--data", folder.path]);
    expect((await start.waitForExit()).code).toBe(1);
    owner.close();
    expect(start.output.all).toEqual([
      expect.stringMatching(
        new RegExp(`^tenure: port ${port} for gRPC is taken by .+\\(process ${process.pid}\\): stop that`),
      ),
    ]);
  });

  it("refuses a second start on the same data", async () => {
    await using folder = await tempDirectory();
    await using system = await launch(folder.path);
    const second = spawnLauncher(["--port", "auto", "--data", folder.path]);
    expect((await second.waitForExit()).code).toBe(1);
    expect(second.output.all[0]).toContain(`in use by another start (process ${system.process.pid})`);
  }, 240_000);

  it.each([
    [["--frehs"], 2, "tenure: Unknown option '--frehs'; see npm start -- --help"],
    [["--scale", "elections=2"], 2, "tenure: --scale must name one of"],
    [["--help"], 0, "usage: npm start -- [options]"],
  ])("answers %j at once", async (args, code, line) => {
    const start = spawnLauncher(args);
    expect((await start.waitForExit()).code).toBe(code);
    expect(start.output.all[0]).toContain(line);
  });
});
