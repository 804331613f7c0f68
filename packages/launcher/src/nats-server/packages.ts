import { mkdtemp, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { apt } from "./apt.ts";
import { distributionOf } from "./distribution.ts";
import { beginSearch, type FindOptions } from "./search.ts";
import { candidateVersion, fromFirstSuite, unavailable, unpackArchive } from "./suites.ts";
import { compareServerVersions, upstreamVersion } from "./version.ts";

/** Programs of the distribution that are wanted beside the system, unpacked and not installed. */
export interface PackagesRequest extends Pick<FindOptions, "environment" | "machine" | "report" | "signal"> {
  /** The name of the cache entry. */
  readonly name: string;
  /** The packages; the first one's version is the entry's. */
  readonly packages: readonly [string, ...string[]];
}

/** Where packages were unpacked. */
export interface UnpackedPackages {
  /** The root of what they hold: `usr/bin/...` is under it. */
  readonly directory: string;
  readonly version: string;
}

/**
 * Packages of the distribution's newest suite, unpacked into the project's cache once. Without root, and nothing of the
 * system is changed. Throws where there is no such distribution, or it does not have them.
 */
export async function unpackPackages(request: PackagesRequest): Promise<UnpackedPackages> {
  const { name, packages } = request;
  const search = await beginSearch(request);
  const { cacheDirectory, machine } = search;
  const cached = await newestEntry(cacheDirectory, name);
  if (cached !== undefined) return cached;
  const distribution = machine.platform === "linux" ? distributionOf(machine.osRelease) : undefined;
  if (distribution === undefined) throw unavailable(`${name} is taken from Debian or Ubuntu, and this is neither`);
  return await fromFirstSuite({ ...search, distribution }, name, async (context, suite) => {
    const version = upstreamVersion(await candidateVersion(context, suite, packages[0]));
    if (version === undefined) throw unavailable(`${suite} has a ${packages[0]} without a version`);
    search.report(`downloading ${name} ${version} from ${suite}`);
    await apt(context, "apt-get", ["download", ...packages]);
    const unpacked = await mkdtemp(join(context.directory, "unpacked-"));
    const archives = (await readdir(context.directory)).filter((file) => file.endsWith(".deb"));
    for (const archive of archives) await unpackArchive(context, join(context.directory, archive), unpacked);
    const directory = join(cacheDirectory, `${name}-${version}`);
    await rename(unpacked, directory).catch(async (error: unknown) => {
      // Another process was first.
      if ((await newestEntry(cacheDirectory, name)) === undefined) throw error;
    });
    return { directory, version };
  });
}

async function newestEntry(cacheDirectory: string, name: string): Promise<UnpackedPackages | undefined> {
  const entries = (await readdir(cacheDirectory).catch(() => [])).flatMap((entry) => {
    const version = entry.startsWith(`${name}-`) ? entry.slice(name.length + 1) : undefined;
    return version === undefined ? [] : [{ directory: join(cacheDirectory, entry), version }];
  });
  return entries.sort((left, right) => compareServerVersions(right.version, left.version))[0];
}
