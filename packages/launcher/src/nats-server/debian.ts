import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type AptContext, apt } from "./apt.ts";
import { readBinaryVersion } from "./binary.ts";
import { type CachedServer, installBinary } from "./cache.ts";
import { percentReporter } from "./progress.ts";
import {
  candidateVersion,
  firstExisting,
  fromFirstSuite,
  type SuiteRequest,
  unavailable,
  unpackArchive,
} from "./suites.ts";
import { upstreamVersion } from "./version.ts";

/** What to fetch from a distribution, and how. */
export interface DebianRequest extends SuiteRequest {
  readonly accepts: (version: string) => boolean;
}

/** Unpacks the distribution's nats-server of the first suite that has an accepted version into the cache. */
export function obtainFromDebian(request: DebianRequest): Promise<CachedServer> {
  return fromFirstSuite(request, "nats-server", (context, suite) => obtainFromSuite(request, context, suite));
}

async function obtainFromSuite(request: DebianRequest, context: AptContext, suite: string): Promise<CachedServer> {
  const { report } = request;
  const packageVersion = await candidateVersion(context, suite, "nats-server");
  const version = upstreamVersion(packageVersion);
  if (version === undefined || !request.accepts(version)) {
    throw unavailable(`its nats-server is ${packageVersion}, which is not a version asked for`);
  }
  report(`downloading nats-server ${packageVersion} from ${suite}`);
  await apt(context, "apt-get", ["download", "nats-server"], percentReporter(`nats-server ${packageVersion}`, report));
  return await installPackage(request, context, version);
}

async function installPackage(request: DebianRequest, context: AptContext, version: string): Promise<CachedServer> {
  const archive = (await readdir(context.directory)).find((name) => /^nats-server_.*\.deb$/.test(name));
  if (archive === undefined) throw unavailable("apt downloaded no nats-server package");
  const unpacked = await mkdtemp(join(context.directory, "unpacked-"));
  await unpackArchive(context, join(context.directory, archive), unpacked);
  const source = await firstExisting([join(unpacked, "usr/sbin/nats-server"), join(unpacked, "usr/bin/nats-server")]);
  // A binary of a newer suite can ask for a newer C library: it is run before it is kept.
  await readBinaryVersion(source, context.clock, context.signal);
  const { cacheDirectory } = request;
  return installBinary({ directory: cacheDirectory, partial: context.directory, source, version, platform: "linux" });
}
