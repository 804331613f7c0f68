import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Clock, Fault } from "@tenure/kernel";
import { binaryName, readBinaryVersion } from "./binary.ts";
import { type CachedServer, installBinary, withPartialDirectory } from "./cache.ts";
import { runCommand } from "./command.ts";
import { boundedSignal } from "./deadline.ts";
import { percentReporter, type Report } from "./progress.ts";

/** Where the NATS project publishes its releases; below it lie `v<version>/SHA256SUMS` and the archives. */
export const releasesUrl = "https://github.com/nats-io/nats-server/releases/download";

/** What to fetch from the project's releases, and how. */
export interface ReleaseRequest {
  readonly version: string;
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly cacheDirectory: string;
  readonly releasesUrl: string;
  readonly report: Report;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** The list of checksums is a few kilobytes: a host that has not sent it by then is not reachable. */
const checksumsTimeoutMs = 20_000;
/** An archive has about 7 MB. */
const archiveTimeoutMs = 600_000;
const unpackTimeoutMs = 60_000;

const operatingSystems: Readonly<Record<string, string>> = {
  linux: "linux",
  darwin: "darwin",
  win32: "windows",
  freebsd: "freebsd",
};
const architectures: Readonly<Record<string, string>> = {
  x64: "amd64",
  arm64: "arm64",
  arm: "arm7",
  ia32: "386",
  s390x: "s390x",
  ppc64: "ppc64le",
};

/** The archives that a release may have for a machine, without their directory; the first is preferred. */
export function archiveNames(version: string, platform: NodeJS.Platform, architecture: string): string[] {
  const system = operatingSystems[platform];
  const machine = architectures[architecture];
  if (system === undefined || machine === undefined) {
    throw unavailable(`the NATS project publishes no nats-server for ${platform} on ${architecture}`);
  }
  const stem = `nats-server-v${version}-${system}-${machine}`;
  return platform === "win32" ? [`${stem}.zip`] : [`${stem}.tar.gz`, `${stem}.zip`];
}

/** The file name and its published SHA-256, of the first name that the list has. */
export function checksumOf(sums: string, names: readonly string[]): { name: string; sha256: string } | undefined {
  const published = new Map<string, string>();
  for (const [, sha256, name] of sums.matchAll(/^([0-9a-fA-F]{64})\s+\*?(\S+)\s*$/gm)) {
    if (sha256 !== undefined && name !== undefined) published.set(name, sha256.toLowerCase());
  }
  for (const name of names) {
    const sha256 = published.get(name);
    if (sha256 !== undefined) return { name, sha256 };
  }
  return undefined;
}

/** Downloads the official archive into the cache. An archive whose checksum is not the published one is never unpacked. */
export function obtainFromRelease(request: ReleaseRequest): Promise<CachedServer> {
  const names = archiveNames(request.version, request.platform, request.architecture);
  return withPartialDirectory(request.cacheDirectory, async (directory) => {
    const folder = `${request.releasesUrl}/v${request.version}`;
    request.report(`reading the checksums of the NATS release ${request.version} from ${folder}`);
    const published = checksumOf(await fetchText(`${folder}/SHA256SUMS`, request), names);
    if (published === undefined) throw unavailable(`release ${request.version} lists no ${names.join(" or ")}`);
    const archive = join(directory, published.name);
    const sha256 = await download(`${folder}/${published.name}`, archive, request);
    if (sha256 !== published.sha256) throw checksumFault(published, sha256);
    return await installArchive(request, directory, archive);
  });
}

async function fetchText(url: string, request: ReleaseRequest): Promise<string> {
  using bound = boundedSignal(request.clock, checksumsTimeoutMs, request.signal);
  const response = await get(url, bound.signal);
  return await response.text();
}

async function get(url: string, signal: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (cause) {
    throw unavailable(`${url} cannot be reached: ${reasonOf(cause)}`, cause);
  }
  if (!response.ok) throw unavailable(`${url} answered ${response.status}`);
  return response;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}

async function download(url: string, path: string, request: ReleaseRequest): Promise<string> {
  using bound = boundedSignal(request.clock, archiveTimeoutMs, request.signal);
  request.report(`downloading ${url}`);
  const response = await get(url, bound.signal);
  if (response.body === null) throw unavailable(`${url} answered without a body`);
  const totalBytes = Number(response.headers.get("content-length") ?? 0);
  const onPercent = percentReporter(`nats-server ${request.version}`, request.report);
  const hash = createHash("sha256");
  let receivedBytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      receivedBytes += chunk.length;
      if (totalBytes > 0) onPercent((receivedBytes / totalBytes) * 100);
      done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.fromWeb(response.body), meter, createWriteStream(path), { signal: bound.signal });
  } catch (cause) {
    throw unavailable(`the download of ${url} broke off after ${receivedBytes} bytes: ${reasonOf(cause)}`, cause);
  }
  return hash.digest("hex");
}

async function installArchive(request: ReleaseRequest, directory: string, archive: string): Promise<CachedServer> {
  const { platform, version, clock, signal } = request;
  const unpacked = await mkdtemp(join(directory, "unpacked-"));
  await runCommand({
    file: "tar",
    arguments: ["-xf", archive, "-C", unpacked, "--strip-components=1"],
    environment: process.env,
    timeoutMs: unpackTimeoutMs,
    clock,
    signal,
  });
  const source = join(unpacked, binaryName(platform));
  await readBinaryVersion(source, clock, signal);
  return await installBinary({ directory: request.cacheDirectory, partial: directory, source, version, platform });
}

function checksumFault(published: { readonly name: string; readonly sha256: string }, actual: string): Fault {
  return new Fault({
    code: "DATA_LOSS",
    reason: "CHECKSUM_MISMATCH",
    message: `${published.name} has the SHA-256 ${actual}, but ${published.sha256} is published: it was not unpacked`,
  });
}

function unavailable(message: string, cause?: unknown): Fault {
  return new Fault({ code: "UNAVAILABLE", reason: "NATS_RELEASE_UNAVAILABLE", message, cause });
}
