import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cacheDirectory, cachedServers, installBinary, withPartialDirectory } from "./cache.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenure-cache-"));
});
afterEach(() => rm(root, { recursive: true }));

async function install(version: string, content: string): Promise<string> {
  return await withPartialDirectory(join(root, "cache"), async (partial) => {
    const source = join(partial, "downloaded");
    await writeFile(source, content);
    const directory = join(root, "cache");
    return (await installBinary({ directory, partial, source, version, platform: "linux" })).path;
  });
}

describe("the cache folder", () => {
  test.each([
    [{ TENURE_CACHE_DIR: "/own", XDG_CACHE_HOME: "/xdg" }, "/own"],
    [{ XDG_CACHE_HOME: "/xdg" }, "/xdg/tenure"],
    [{ TENURE_CACHE_DIR: "", XDG_CACHE_HOME: "" }, "/home/someone/.cache/tenure"],
  ])("with %j is %s", (environment, directory) => {
    expect(cacheDirectory(environment, "/home/someone")).toBe(directory);
  });

  test("lists its servers newest first and nothing else", async () => {
    for (const version of ["2.9.10", "2.15.1", "2.10.27"]) await install(version, version);
    for (const stray of ["nats-server-2.11.0", "nats-server-x", "other"]) await mkdir(join(root, "cache", stray));
    const found = await cachedServers(join(root, "cache"), "linux");
    expect(found.map((server) => server.version)).toEqual(["2.15.1", "2.10.27", "2.9.10"]);
    expect(found[0]?.path).toBe(join(root, "cache", "nats-server-2.15.1", "nats-server"));
  });

  test("that does not exist is empty", async () => {
    expect(await cachedServers(join(root, "nowhere"), "linux")).toEqual([]);
  });

  test("that cannot be written says which setting to change", async () => {
    await writeFile(join(root, "file"), "");
    const attempt = withPartialDirectory(join(root, "file"), async () => undefined);
    await expect(attempt).rejects.toMatchObject({
      reason: "CACHE_NOT_WRITABLE",
      message: expect.stringContaining("set TENURE_CACHE_DIR"),
    });
  });
});

describe("an entry of the cache", () => {
  test("is executable by everyone and leaves nothing beside it", async () => {
    const path = await install("2.15.1", "binary");
    expect((await stat(path)).mode & 0o777).toBe(0o755);
    expect(await readdir(join(root, "cache"))).toEqual(["nats-server-2.15.1"]);
  });

  test("is whole, whoever of many at once is first", async () => {
    const contents = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(100_000));
    const paths = await Promise.all(contents.map((content) => install("2.15.1", content)));
    expect(new Set(paths).size).toBe(1);
    expect(contents).toContain(await readFile(paths[0] ?? "", "utf8"));
    expect(await readdir(join(root, "cache"))).toEqual(["nats-server-2.15.1"]);
  });

  test("replaces one that lost its binary", async () => {
    await mkdir(join(root, "cache", "nats-server-2.15.1", "stray"), { recursive: true });
    expect(await readFile(await install("2.15.1", "binary"), "utf8")).toBe("binary");
  });

  test("removes what a process that is gone left behind, and spares what a living one fills", async () => {
    // The highest process id of Linux is 2^22: no process has this one.
    const abandoned = join(root, "cache", ".partial-99999999-abc");
    const living = join(root, "cache", `.partial-${process.pid}-abc`);
    for (const directory of [abandoned, living]) await mkdir(directory, { recursive: true });
    await install("2.15.1", "binary");
    expect(await readdir(join(root, "cache"))).toEqual([`.partial-${process.pid}-abc`, "nats-server-2.15.1"]);
  });
});
