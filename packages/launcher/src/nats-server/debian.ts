import { access, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, Fault, toFault } from "@tenure/kernel";
import { type AptContext, apt, aptEnvironment, prepareApt } from "./apt.ts";
import { readBinaryVersion } from "./binary.ts";
import { type CachedServer, installBinary, withPartialDirectory } from "./cache.ts";
import { runCommand } from "./command.ts";
import type { Distribution } from "./distribution.ts";
import { mirrorsOf } from "./mirrors.ts";
import { percentReporter, type Report } from "./progress.ts";
import { upstreamVersion } from "./version.ts";

/** What to fetch from a distribution, and how. */
export interface DebianRequest {
  readonly distribution: Distribution;
  /** Suites to look through, in this order; the distribution's own when absent. */
  readonly suites?: readonly string[];
  readonly accepts: (version: string) => boolean;
  readonly cacheDirectory: string;
  readonly report: Report;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

const notPackaged = "NATS_SERVER_NOT_PACKAGED";
const unpackTimeoutMs = 60_000;

/**
 * Unpacks the distribution's nats-server package of the first suite that has an accepted version into the cache.
 * Needs no root and changes nothing of the system. Throws when no suite of any mirror gives one.
 */
export async function obtainFromDebian(request: DebianRequest): Promise<CachedServer> {
  const { distribution, clock, signal } = request;
  const keyring = await firstExisting(distribution.keyrings);
  const suites = new Set(request.suites ?? distribution.suites);
  const refusals: string[] = [];
  for (const mirror of await mirrorsOf(distribution, clock, signal)) {
    for (const suite of [...suites]) {
      const source = { mirror, suite, component: distribution.component, keyring };
      try {
        return await withPartialDirectory(request.cacheDirectory, async (directory) => {
          await prepareApt(directory, source);
          return await obtainFromSuite(request, { directory, clock, signal }, `${distribution.origin} ${suite}`);
        });
      } catch (error) {
        signal?.throwIfAborted();
        const { message, reason } = toFault(error);
        request.report(`${distribution.origin} ${suite} was passed over: ${message}`);
        refusals.push(`${suite}: ${message}`);
        // Another mirror has the same package; only one that could not be read is worth another mirror.
        if (reason === notPackaged) suites.delete(suite);
      }
    }
  }
  throw unavailable(`no suite of ${distribution.origin} gave a usable nats-server (${refusals.join("; ")})`);
}

async function obtainFromSuite(request: DebianRequest, context: AptContext, suite: string): Promise<CachedServer> {
  const { report } = request;
  report(`reading the package list of ${suite}`);
  await apt(context, "apt-get", ["update"], percentReporter(`package list of ${suite}`, report));
  const packageVersion = await candidateVersion(context, suite);
  const version = upstreamVersion(packageVersion);
  if (version === undefined || !request.accepts(version)) {
    throw unavailable(`its nats-server is ${packageVersion}, which is not a version asked for`);
  }
  report(`downloading nats-server ${packageVersion} from ${suite}`);
  await apt(context, "apt-get", ["download", "nats-server"], percentReporter(`nats-server ${packageVersion}`, report));
  return await installPackage(request, context, version);
}

async function candidateVersion(context: AptContext, suite: string): Promise<string> {
  const shown = await apt(context, "apt-cache", ["show", "--no-all-versions", "nats-server"]);
  const version = /^Version: (\S+)$/m.exec(shown)?.[1];
  if (version === undefined) throw unavailable(`${suite} has no package nats-server`);
  return version;
}

async function installPackage(request: DebianRequest, context: AptContext, version: string): Promise<CachedServer> {
  const archive = (await readdir(context.directory)).find((name) => /^nats-server_.*\.deb$/.test(name));
  if (archive === undefined) throw unavailable("apt downloaded no nats-server package");
  const unpacked = await mkdtemp(join(context.directory, "unpacked-"));
  await runCommand({
    file: "dpkg-deb",
    arguments: ["-x", join(context.directory, archive), unpacked],
    environment: aptEnvironment(),
    timeoutMs: unpackTimeoutMs,
    clock: context.clock,
    signal: context.signal,
  });
  const source = await firstExisting([join(unpacked, "usr/sbin/nats-server"), join(unpacked, "usr/bin/nats-server")]);
  // A binary of a newer suite can ask for a newer C library: it is run before it is kept.
  await readBinaryVersion(source, context.clock, context.signal);
  const { cacheDirectory } = request;
  return installBinary({ directory: cacheDirectory, partial: context.directory, source, version, platform: "linux" });
}

async function firstExisting(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) return path;
  }
  throw unavailable(`none of these files exists: ${paths.join(", ")}`);
}

function unavailable(message: string): Fault {
  return new Fault({ code: "UNAVAILABLE", reason: notPackaged, message });
}
