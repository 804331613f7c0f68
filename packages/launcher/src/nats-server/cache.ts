import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@tenure/kernel";
import { isAlive } from "../process-alive.ts";
import { binaryName } from "./binary.ts";
import { compareServerVersions, parseServerVersion } from "./version.ts";

/** A server binary in the cache folder. */
export interface CachedServer {
  readonly path: string;
  readonly version: string;
}

const entryPrefix = "nats-server-";
const partialPrefix = ".partial-";

/** The project's cache folder: `TENURE_CACHE_DIR`, else `$XDG_CACHE_HOME/tenure`, else `~/.cache/tenure`. */
export function cacheDirectory(environment: Readonly<Record<string, string | undefined>>, home: string): string {
  const own = environment.TENURE_CACHE_DIR;
  if (own) return own;
  const shared = environment.XDG_CACHE_HOME;
  return shared ? join(shared, "tenure") : join(home, ".cache", "tenure");
}

/** The servers in the cache, newest first. A folder that does not exist is an empty cache. */
export async function cachedServers(directory: string, platform: NodeJS.Platform): Promise<CachedServer[]> {
  const names = await readdir(directory).catch(() => []);
  const servers: CachedServer[] = [];
  for (const name of names) {
    const version = name.startsWith(entryPrefix) ? parseServerVersion(name) : undefined;
    if (version === undefined || name !== `${entryPrefix}${version}`) continue;
    const path = join(directory, name, binaryName(platform));
    if (await isFile(path)) servers.push({ path, version });
  }
  return servers.sort((left, right) => compareServerVersions(right.version, left.version));
}

/**
 * Runs `work` with a folder inside the cache that is removed afterwards. Folders that a killed process left behind
 * are removed on the way.
 */
export async function withPartialDirectory<T>(directory: string, work: (partial: string) => Promise<T>): Promise<T> {
  const partial = await makePartialDirectory(directory);
  try {
    return await work(partial);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function makePartialDirectory(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true });
    await removeAbandoned(directory);
    return await mkdtemp(join(directory, `${partialPrefix}${process.pid}-`));
  } catch (cause) {
    throw new Fault({
      code: "FAILED_PRECONDITION",
      reason: "CACHE_NOT_WRITABLE",
      message: `the cache folder ${directory} cannot be written (${cause instanceof Error ? cause.message : cause}): set TENURE_CACHE_DIR to a folder that can`,
      cause,
    });
  }
}

async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const owner = new RegExp(`^\\${partialPrefix}(\\d+)-`).exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

/**
 * Puts a binary into the cache under its version. The entry appears whole or not at all: it is filled beside its
 * place and renamed. When another process was first, its entry is kept.
 */
export async function installBinary(options: {
  readonly directory: string;
  readonly partial: string;
  readonly source: string;
  readonly version: string;
  readonly platform: NodeJS.Platform;
}): Promise<CachedServer> {
  const name = binaryName(options.platform);
  const filled = await mkdtemp(join(options.partial, "entry-"));
  await copyFile(options.source, join(filled, name));
  await chmod(join(filled, name), 0o755);
  await chmod(filled, 0o755);
  const entry = join(options.directory, `${entryPrefix}${options.version}`);
  const path = join(entry, name);
  if (!(await isFile(path))) {
    // An entry without its binary cannot come from here; it would stand in the way of the rename.
    await rename(filled, entry).catch(async (error: unknown) => {
      if (await isFile(path)) return;
      await rm(entry, { recursive: true, force: true });
      await rename(filled, entry).catch(async () => {
        if (!(await isFile(path))) throw error;
      });
    });
  }
  return { path, version: options.version };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
