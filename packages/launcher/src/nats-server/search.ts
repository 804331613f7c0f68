import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { type Clock, systemClock, toFault } from "@tenure/kernel";
import { readBinaryVersion } from "./binary.ts";
import { cacheDirectory, cachedServers } from "./cache.ts";
import type { Report } from "./progress.ts";
import { releasesUrl } from "./release.ts";

/** Where a server binary came from. */
export type NatsServerOrigin = "explicit" | "path" | "cache" | "debian" | "release";

/** A nats-server that runs on this machine. */
export interface FoundNatsServer {
  readonly path: string;
  readonly version: string;
  readonly origin: NatsServerOrigin;
}

/** The machine, as far as the search needs to know it; injected in tests. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** As Node names it: `x64`, `arm64`, … */
  readonly architecture: string;
  readonly home: string;
  /** The text of `/etc/os-release`; empty where there is none. */
  readonly osRelease: string;
  /** Where official releases are fetched from. */
  readonly releasesUrl: string;
}

/** How the search is made. */
export interface FindOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Takes one line at a time: what is being done, its progress, what was passed over and why. */
  readonly report: Report;
  readonly minimumVersion?: string;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly machine?: Partial<Machine>;
}

/** The search with every default filled in. */
export interface Search {
  readonly environment: FindOptions["environment"];
  readonly report: Report;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly machine: Machine;
  readonly cacheDirectory: string;
}

/** Fills in the defaults of a search. */
export async function beginSearch(options: FindOptions): Promise<Search> {
  const machine: Machine = {
    platform: process.platform,
    architecture: process.arch,
    home: homedir(),
    osRelease: options.machine?.osRelease ?? (await readFile("/etc/os-release", "utf8").catch(() => "")),
    releasesUrl,
    ...options.machine,
  };
  return {
    environment: options.environment,
    report: options.report,
    clock: options.clock ?? systemClock,
    signal: options.signal,
    machine,
    cacheDirectory: cacheDirectory(options.environment, machine.home),
  };
}

/** The newest server in the cache whose version is accepted and that runs. */
export async function usableInCache(
  search: Search,
  accepts: (version: string) => boolean,
  tried: string[],
): Promise<FoundNatsServer | undefined> {
  for (const server of await cachedServers(search.cacheDirectory, search.machine.platform)) {
    if (!accepts(server.version)) continue;
    try {
      await readBinaryVersion(server.path, search.clock, search.signal);
      return { ...server, origin: "cache" };
    } catch (error) {
      search.signal?.throwIfAborted();
      passOver(search, tried, toFault(error).message);
    }
  }
  return undefined;
}

/** Tells the person who waits why something was not taken, and keeps it for the last message. */
export function passOver(search: Search, tried: string[], why: string): void {
  search.report(`passed over: ${why}`);
  tried.push(why);
}
