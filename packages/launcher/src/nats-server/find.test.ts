import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "@tenure/kernel";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findNatsServer } from "./find.ts";
import { obtainVersion } from "./obtain.ts";
import type { FindOptions } from "./search.ts";

let root: string;
let lines: string[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenure-find-"));
  lines = [];
});
afterEach(() => rm(root, { recursive: true }));

/** A program that only knows its version. */
async function fakeServer(path: string, says: string): Promise<string> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), `#!/bin/sh\necho '${says}'\n`);
  await chmod(join(root, path), 0o755);
  return join(root, path);
}

/** A machine without apt, where the releases cannot be reached: port 1 refuses. */
function options(environment: Record<string, string> = {}): FindOptions {
  return {
    environment: {
      PATH: `${join(root, "bin")}:${join(root, "sbin")}`,
      TENURE_CACHE_DIR: join(root, "cache"),
      ...environment,
    },
    report: (line) => lines.push(line),
    machine: { platform: "linux", architecture: "x64", osRelease: "", releasesUrl: "http://127.0.0.1:1" },
  };
}

describe("the search for a nats-server", () => {
  test("takes the named one before any other", async () => {
    await fakeServer("bin/nats-server", "nats-server: v2.15.1");
    const path = await fakeServer("own/server", "nats-server: v2.10.27");
    const found = await findNatsServer(options({ TENURE_NATS_SERVER: path }));
    expect(found).toEqual({ path, version: "2.10.27", origin: "explicit" });
  });

  test("refuses a named one that is too old, although another would do", async () => {
    await fakeServer("bin/nats-server", "nats-server: v2.15.1");
    const path = await fakeServer("own/server", "nats-server: v2.9.10");
    await expect(findNatsServer(options({ TENURE_NATS_SERVER: path }))).rejects.toMatchObject({
      reason: "NATS_SERVER_TOO_OLD",
      message: `TENURE_NATS_SERVER names ${path}, which is version 2.9.10; at least 2.10.23 is needed: name a newer one or unset it`,
    });
  });

  test.each([
    ["does not exist", undefined],
    ["is another program", "something else 2.15.1"],
  ])("refuses a named one that %s", async (_what, says) => {
    const path = says === undefined ? join(root, "nowhere") : await fakeServer("own/server", says);
    await expect(findNatsServer(options({ TENURE_NATS_SERVER: path }))).rejects.toMatchObject({
      reason: "NATS_SERVER_NOT_USABLE",
      message: expect.stringContaining(`TENURE_NATS_SERVER names ${path}, which does not run`),
    });
  });

  test("takes the one on PATH before the cache", async () => {
    await fakeServer("cache/nats-server-2.15.1/nats-server", "nats-server: v2.15.1");
    const path = await fakeServer("bin/nats-server", "nats-server: v2.10.23");
    expect(await findNatsServer(options())).toEqual({ path, version: "2.10.23", origin: "path" });
    expect(lines).toEqual([]);
  });

  test("passes over an old one on PATH, says why, and looks further along PATH", async () => {
    const old = await fakeServer("bin/nats-server", "nats-server: v2.9.10");
    const path = await fakeServer("sbin/nats-server", "nats-server: v2.11.16");
    expect(await findNatsServer(options())).toEqual({ path, version: "2.11.16", origin: "path" });
    expect(lines).toEqual([`passed over: ${old} is version 2.9.10; at least 2.10.23 is needed`]);
  });

  test("takes the newest one of the cache that runs", async () => {
    await fakeServer("cache/nats-server-2.15.2/nats-server", "broken");
    const path = await fakeServer("cache/nats-server-2.15.1/nats-server", "nats-server: v2.15.1");
    await fakeServer("cache/nats-server-2.10.27/nats-server", "nats-server: v2.10.27");
    expect(await findNatsServer(options())).toEqual({ path, version: "2.15.1", origin: "cache" });
  });

  test("asks for the minimum that it is given", async () => {
    await fakeServer("cache/nats-server-2.10.27/nats-server", "nats-server: v2.10.27");
    const attempt = findNatsServer({ ...options(), minimumVersion: "2.11.16" });
    await expect(attempt).rejects.toThrow("has no nats-server of at least 2.11.16");
  });

  test("names what was tried and exactly three commands when nothing works", async () => {
    const old = await fakeServer("bin/nats-server", "nats-server: v2.9.10");
    const fault = await findNatsServer(options()).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Fault);
    const { message, reason } = fault as Fault;
    expect(reason).toBe("NATS_SERVER_NOT_FOUND");
    expect(message).toContain(`${old} is version 2.9.10`);
    expect(message).toContain("http://127.0.0.1:1/v2.15.1/SHA256SUMS cannot be reached");
    const commands = message.split("\n").filter((line) => /^ {2}\d\. /.test(line));
    expect(commands).toHaveLength(3);
    for (const command of commands) expect(command).toMatch(/npm start$/);
  });
});

describe("an exact version", () => {
  test("comes from the cache, never from PATH, also when it is old", async () => {
    await fakeServer("bin/nats-server", "nats-server: v2.9.10");
    await fakeServer("cache/nats-server-2.15.1/nats-server", "nats-server: v2.15.1");
    const path = await fakeServer("cache/nats-server-2.9.10/nats-server", "nats-server: v2.9.10");
    const found = await obtainVersion({ ...options(), version: "2.9.10" });
    expect(found).toEqual({ path, version: "2.9.10", origin: "cache" });
  });
});
