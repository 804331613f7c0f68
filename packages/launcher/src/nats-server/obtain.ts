import { toFault } from "@tenure/kernel";
import type { CachedServer } from "./cache.ts";
import { nothingWorked } from "./choices.ts";
import { obtainFromDebian } from "./debian.ts";
import { distributionOf } from "./distribution.ts";
import { obtainFromRelease } from "./release.ts";
import {
  beginSearch,
  type FindOptions,
  type FoundNatsServer,
  type NatsServerOrigin,
  passOver,
  type Search,
  usableInCache,
} from "./search.ts";

/** Options of {@link obtainVersion}. */
export interface ObtainOptions extends FindOptions {
  /** The exact version, for example `2.10.27`. */
  readonly version: string;
  /** The suites of the distribution that are known to have it; all of them are looked through when absent. */
  readonly suites?: readonly string[];
}

/** One exact version, from the cache or obtained into it. For tests against older servers; PATH is not looked at. */
export async function obtainVersion(options: ObtainOptions): Promise<FoundNatsServer> {
  const search = await beginSearch(options);
  const cached = await usableInCache(search, (version) => version === options.version, []);
  if (cached !== undefined) return cached;
  const accepts = (version: string): boolean => version === options.version;
  return await obtain(search, { accepts, suites: options.suites, releaseVersion: options.version }, []);
}

/** What to obtain: from the distribution any accepted version, from the releases a certain one. */
export interface Wanted {
  readonly accepts: (version: string) => boolean;
  readonly suites?: readonly string[] | undefined;
  readonly releaseVersion: string;
}

/**
 * Obtains a server into the cache, from the distribution where there is one, else from the official releases. Throws
 * with the three commands to choose from when neither works.
 */
export async function obtain(search: Search, wanted: Wanted, tried: string[]): Promise<FoundNatsServer> {
  const { machine } = search;
  search.report(`obtaining nats-server into ${search.cacheDirectory} (once; nothing else of the system is changed)`);
  const sources: [NatsServerOrigin, (() => Promise<CachedServer>) | undefined][] = [
    ["debian", debianSource(search, wanted)],
    ["release", () => obtainFromRelease({ ...search, ...machine, version: wanted.releaseVersion })],
  ];
  for (const [origin, source] of sources) {
    if (source === undefined) continue;
    try {
      const server = await source();
      search.report(`nats-server ${server.version} is at ${server.path}`);
      return { ...server, origin };
    } catch (error) {
      search.signal?.throwIfAborted();
      passOver(search, tried, toFault(error).message);
    }
  }
  throw nothingWorked(tried, machine.platform, machine.architecture);
}

function debianSource(search: Search, wanted: Wanted): (() => Promise<CachedServer>) | undefined {
  const distribution = search.machine.platform === "linux" ? distributionOf(search.machine.osRelease) : undefined;
  if (distribution === undefined) return undefined;
  const suites = wanted.suites === undefined ? {} : { suites: wanted.suites };
  return () => obtainFromDebian({ ...search, ...suites, distribution, accepts: wanted.accepts });
}
