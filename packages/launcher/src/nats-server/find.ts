import { Fault, toFault } from "@tenure/kernel";
import { readBinaryVersion } from "./binary.ts";
import { obtain } from "./obtain.ts";
import { candidatesOnPath, executablesAmong } from "./path.ts";
import { beginSearch, type FindOptions, type FoundNatsServer, passOver, type Search, usableInCache } from "./search.ts";
import { isSufficient, minimumServerVersion, recommendedServerVersion } from "./version.ts";

/**
 * A nats-server of at least `minimumVersion`: the one that `TENURE_NATS_SERVER` names, one on PATH, one in the cache,
 * else one obtained into the cache without root and without touching the system. A named one that does not do is a
 * fault, never passed over. Throws with the three commands to choose from when nothing works.
 */
export async function findNatsServer(options: FindOptions): Promise<FoundNatsServer> {
  const minimum = options.minimumVersion ?? minimumServerVersion;
  const search = await beginSearch(options);
  const explicit = options.environment.TENURE_NATS_SERVER;
  if (explicit) return await explicitServer(explicit, minimum, search);
  const tried: string[] = [];
  const found = (await serverOnPath(search, minimum, tried)) ?? (await serverInCache(search, minimum, tried));
  if (found !== undefined) return found;
  const accepts = (version: string): boolean => isSufficient(version, minimum);
  return await obtain(search, { accepts, releaseVersion: recommendedServerVersion }, tried);
}

async function explicitServer(path: string, minimum: string, search: Search): Promise<FoundNatsServer> {
  let version: string;
  try {
    version = await readBinaryVersion(path, search.clock, search.signal);
  } catch (cause) {
    const message = `TENURE_NATS_SERVER names ${path}, which does not run: ${toFault(cause).message}`;
    throw new Fault({ code: "FAILED_PRECONDITION", reason: "NATS_SERVER_NOT_USABLE", message, cause });
  }
  if (isSufficient(version, minimum)) return { path, version, origin: "explicit" };
  throw new Fault({
    code: "FAILED_PRECONDITION",
    reason: "NATS_SERVER_TOO_OLD",
    message: `TENURE_NATS_SERVER names ${path}, which is version ${version}; at least ${minimum} is needed: name a newer one or unset it`,
  });
}

async function serverOnPath(search: Search, minimum: string, tried: string[]): Promise<FoundNatsServer | undefined> {
  const candidates = candidatesOnPath(search.environment.PATH, search.machine.platform);
  for (const path of await executablesAmong(candidates)) {
    try {
      const version = await readBinaryVersion(path, search.clock, search.signal);
      if (isSufficient(version, minimum)) return { path, version, origin: "path" };
      passOver(search, tried, `${path} is version ${version}; at least ${minimum} is needed`);
    } catch (error) {
      search.signal?.throwIfAborted();
      passOver(search, tried, toFault(error).message);
    }
  }
  if (tried.length === 0) tried.push("PATH has no nats-server");
  return undefined;
}

async function serverInCache(search: Search, minimum: string, tried: string[]): Promise<FoundNatsServer | undefined> {
  const found = await usableInCache(search, (version) => isSufficient(version, minimum), tried);
  if (found === undefined) tried.push(`the cache ${search.cacheDirectory} has no nats-server of at least ${minimum}`);
  return found;
}
