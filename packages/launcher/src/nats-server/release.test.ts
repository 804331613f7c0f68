import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tenure/kernel";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { archiveNames, checksumOf, obtainFromRelease, type ReleaseRequest } from "./release.ts";

const version = "2.15.1";
const folderName = `nats-server-v${version}-linux-amd64`;
const archiveName = `${folderName}.tar.gz`;

let root: string;
let server: Server;
let files: Map<string, Buffer>;
let lines: string[];
let request: ReleaseRequest;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenure-release-"));
  files = new Map();
  lines = [];
  server = createServer((incoming, response) => {
    const body = files.get(incoming.url ?? "");
    response.writeHead(body === undefined ? 404 : 200, { "content-length": body?.length ?? 0 });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  request = {
    version,
    platform: "linux",
    architecture: "x64",
    cacheDirectory: join(root, "cache"),
    releasesUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    report: (line) => lines.push(line),
    clock: systemClock,
  };
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(root, { recursive: true });
});

/** An archive as the project publishes them, with a program that only knows its version. */
async function publish(sha256?: string): Promise<Buffer> {
  await mkdir(join(root, folderName));
  await writeFile(join(root, folderName, "nats-server"), `#!/bin/sh\necho 'nats-server: v${version}'\n`, {
    mode: 0o755,
  });
  execFileSync("tar", ["-czf", join(root, archiveName), "-C", root, folderName]);
  const archive = await readFile(join(root, archiveName));
  const sum = sha256 ?? createHash("sha256").update(archive).digest("hex");
  files.set(`/v${version}/${archiveName}`, archive);
  files.set(`/v${version}/SHA256SUMS`, Buffer.from(`${"0".repeat(64)}  other.zip\n${sum}  ${archiveName}\n`));
  return archive;
}

describe("an official release", () => {
  test("is downloaded, verified and kept in the cache, and tells of its progress", async () => {
    await publish();
    const path = join(root, "cache", `nats-server-${version}`, "nats-server");
    expect(await obtainFromRelease(request)).toEqual({ version, path });
    expect(execFileSync(path, ["--version"], { encoding: "utf8" })).toContain(version);
    expect(await readdir(join(root, "cache"))).toEqual([`nats-server-${version}`]);
    expect(lines.at(-1)).toBe(`nats-server ${version}: 100 %`);
  });

  test("with another checksum than the published one is not unpacked and leaves nothing", async () => {
    const published = "a".repeat(64);
    const actual = createHash("sha256")
      .update(await publish(published))
      .digest("hex");
    await expect(obtainFromRelease(request)).rejects.toMatchObject({
      code: "DATA_LOSS",
      reason: "CHECKSUM_MISMATCH",
      message: `${archiveName} has the SHA-256 ${actual}, but ${published} is published: it was not unpacked`,
    });
    expect(await readdir(join(root, "cache"))).toEqual([]);
  });

  test("that is cut short is refused, because its checksum differs", async () => {
    const archive = await publish();
    files.set(`/v${version}/${archiveName}`, archive.subarray(0, archive.length - 10));
    await expect(obtainFromRelease(request)).rejects.toMatchObject({ reason: "CHECKSUM_MISMATCH" });
  });

  test("without a file for this machine is refused by name", async () => {
    files.set(`/v${version}/SHA256SUMS`, Buffer.from(`${"0".repeat(64)}  other.zip\n`));
    await expect(obtainFromRelease(request)).rejects.toThrow(`release ${version} lists no ${archiveName}`);
  });

  test("that does not exist says what the server answered", async () => {
    await expect(obtainFromRelease(request)).rejects.toThrow("SHA256SUMS answered 404");
  });

  test("whose server cannot be reached is unavailable", async () => {
    server.close();
    await expect(obtainFromRelease(request)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/SHA256SUMS cannot be reached: .*ECONNREFUSED/),
    });
  });

  test("is given up when the caller aborts", async () => {
    const signal = AbortSignal.abort(new Error("interrupted"));
    await expect(obtainFromRelease({ ...request, signal })).rejects.toThrow("interrupted");
  });
});

describe("the name of an archive", () => {
  test.each<[NodeJS.Platform, string, string[]]>([
    ["linux", "x64", ["nats-server-v2.15.1-linux-amd64.tar.gz", "nats-server-v2.15.1-linux-amd64.zip"]],
    ["linux", "arm", ["nats-server-v2.15.1-linux-arm7.tar.gz", "nats-server-v2.15.1-linux-arm7.zip"]],
    ["darwin", "arm64", ["nats-server-v2.15.1-darwin-arm64.tar.gz", "nats-server-v2.15.1-darwin-arm64.zip"]],
    ["win32", "x64", ["nats-server-v2.15.1-windows-amd64.zip"]],
  ])("for %s on %s", (platform, architecture, names) => {
    expect(archiveNames("2.15.1", platform, architecture)).toEqual(names);
  });

  test("does not exist for a machine that the project does not build for", () => {
    expect(() => archiveNames("2.15.1", "aix", "ppc64")).toThrow("publishes no nats-server for aix on ppc64");
  });

  test("is looked up in the list of checksums in order of preference, in text and binary form", () => {
    const sums = `${"A".repeat(64)} *b.zip\n${"b".repeat(64)}  a.tar.gz\nnot a checksum\n`;
    expect(checksumOf(sums, ["a.tar.gz", "b.zip"])).toEqual({ name: "a.tar.gz", sha256: "b".repeat(64) });
    expect(checksumOf(sums, ["x", "b.zip"])).toEqual({ name: "b.zip", sha256: "a".repeat(64) });
    expect(checksumOf(sums, ["x"])).toBeUndefined();
  });
});
