import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createUserKey } from "@tenure/log";
import { renderAccounts, renderNatsConfig, users } from "@tenure/provision";
import { natsBinary, startProcess, tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { startProvisioned } from "./provisioned.ts";
import { runProvision } from "./run-provision.ts";

describe("the rendered configuration", () => {
  it.each([
    ["2.10.27", "2.10.27"],
    ["of this machine", undefined],
  ])("is one that nats-server %s accepts, cluster and monitoring included", async (_, version) => {
    await using directory = await tempDirectory();
    const path = join(directory.path, "nats.conf");
    const accounts = renderAccounts(users.map((user) => ({ user, publicKey: createUserKey().publicKey })));
    const cluster = { name: "tenure", host: "0.0.0.0", port: 6222, routes: ["nats://a:6222", "nats://b:6222"] };
    const monitor = { host: "127.0.0.1", port: 8222 };
    const base = { serverName: "a", host: "0.0.0.0", port: 4222, storeDirectory: directory.path };
    await writeFile(path, renderNatsConfig({ ...base, monitor, cluster, accounts }));
    const binary = await natsBinary(version);
    await using check = startProcess(binary.path, { args: ["-t", "-c", path] });
    const { code } = await check.ended;
    expect([code, check.output.all.join("\n")]).toEqual([0, expect.stringContaining("is valid")]);
  });
});

describe("tenure-provision init with the users of the rendered configuration", () => {
  it("creates by the seed files of provision and system, and refuses a seed that the servers do not know", async () => {
    await using server = await startProvisioned();
    await using directory = await tempDirectory();
    await (await server.connect("gateway")).drain();
    const address = ["--mode", "development", "--nats-url", server.url] as const;
    const system = ["--nats-system-nkey-file", server.seedFile("system")] as const;
    const stranger = join(directory.path, "stranger.nk");
    await writeFile(stranger, createUserKey().seed, { mode: 0o600 });

    const refused = await runProvision("init", ...address, ...system, "--nats-nkey-file", stranger);
    expect(refused.code).toBe(1);
    expect(refused.output).toMatch(/^tenure provision init: [^\n]*credential[^\n]*$/i);

    const wrongUser = await runProvision("init", ...address, ...system, "--nats-nkey-file", server.seedFile("gateway"));
    expect(wrongUser.code).toBe(1);
    expect(wrongUser.output).toMatch(/^tenure provision init: cannot [^\n]*lacks a permission[^\n]*$/);

    const created = await runProvision("init", ...address, ...system, "--nats-nkey-file", server.seedFile("provision"));
    expect(created).toMatchObject({ code: 0, output: expect.stringMatching(/^created incarnation /) });
  });
});
