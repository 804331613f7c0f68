import { systemClock } from "@tenure/kernel";
import { createStreams, streamNames } from "@tenure/log";
import { type NatsServer, startNats } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { administrator, connect, existingStreams } from "./connect.ts";
import { checkDeployment } from "./doctor.ts";
import { type ProvisionRun, runProvision } from "./run-provision.ts";

/** Runs init on a test server, whose system user signs in by a password. */
function initOn(server: NatsServer, ...args: readonly string[]): Promise<ProvisionRun> {
  return runProvision("init", "--nats-url", server.url, "--nats-system-url", server.systemUrl, ...args);
}

describe("a server that cannot be trusted", () => {
  it("of version 2.9.10 is refused by init and by the boot check, in every mode, and nothing is created", async () => {
    await using server = await startNats({ version: "2.9.10" });
    await using bus = await connect(server.url);
    for (const mode of ["production", "development"] as const) {
      const { code, output } = await initOn(server, "--mode", mode);
      expect(code).toBe(1);
      expect(output.split("\n")).toHaveLength(1);
      expect(output).toMatch(
        /^tenure provision init: server test: nats-server 2\.9\.10; .*compare-and-set.*; run 2\.11\.16/,
      );
      await expect(checkDeployment(server, mode)).rejects.toMatchObject({
        code: "FAILED_PRECONDITION",
        reason: "SERVER_VERSION",
        message: expect.stringContaining("nats-server 2.9.10"),
      });
    }
    expect(await existingStreams(bus)).toEqual([]);
  });

  it("without JetStream is refused by init and by the boot check, at once", async () => {
    await using server = await startNats({ jetstream: false });
    const { code, output } = await initOn(server, "--mode", "development");
    expect(code).toBe(1);
    expect(output).toMatch(/^tenure provision init: JetStream: is off .*add a `jetstream/);
    await expect(checkDeployment(server, "development")).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "JETSTREAM_OFF",
    });
  });

  it("whose log was deleted is refused by init and by the boot check, and nothing is created", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    const { streams } = await administrator(bus);
    await streams.delete(streamNames.log);
    const left = await existingStreams(bus);
    const { code, output } = await initOn(server, "--mode", "development");
    expect(code).toBe(1);
    expect(output).toMatch(
      /^tenure provision init: the deployment is incomplete: .* exist, but not TENURE_LOG; nothing was created/,
    );
    await expect(checkDeployment(server, "development")).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "LOG_STREAM_MISSING",
      message: expect.stringContaining("fencing tokens"),
    });
    expect(await existingStreams(bus)).toEqual(left);
  });

  it("that runs alone is refused by init in production, and nothing is created", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    const { code, output } = await initOn(server, "--replicas", "1");
    expect(code).toBe(1);
    expect(output).toContain("production needs 3 replicas");
    expect(await existingStreams(bus)).toEqual([]);
  });
});

describe("tenure-provision init", () => {
  it("creates, and the second time says that it changed nothing", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    const first = await initOn(server, "--mode", "development", "--partitions", "4");
    expect(first).toEqual({
      code: 0,
      output: expect.stringMatching(/^created incarnation \w{22}: 4 partitions, the log begins at \d{16}$/),
    });
    const second = await initOn(server, "--mode", "development");
    expect(second).toEqual({
      code: 0,
      output: expect.stringMatching(
        /^already initialized: incarnation \w{22} of \d{4}-.*Z, 4 partitions; nothing was changed$/,
      ),
    });
    expect(await existingStreams(bus)).toHaveLength(5);
  });

  it("answers wrong use with code 2 and one line", async () => {
    const { code, output } = await runProvision("init", "--partitions", "0");
    expect(code).toBe(2);
    expect(output).toMatch(/^tenure provision init: --partitions .*1.*256.*$/);
  });
});
