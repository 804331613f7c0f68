import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { binaryName } from "./binary.ts";

/** Where a `nats-server` could lie on PATH, in PATH's order. Relative entries are left out: they depend on where one stands. */
export function candidatesOnPath(path: string | undefined, platform: NodeJS.Platform): string[] {
  const directories = (path ?? "").split(delimiter).filter((entry) => isAbsolute(entry));
  return [...new Set(directories)].map((directory) => join(directory, binaryName(platform)));
}

/** The candidates that exist and may be executed, without a second name of the same file. */
export async function executablesAmong(candidates: readonly string[]): Promise<string[]> {
  const seen = new Set<string>();
  const found: string[] = [];
  for (const candidate of candidates) {
    const real = await realExecutable(candidate);
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    found.push(candidate);
  }
  return found;
}

async function realExecutable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    return await realpath(path);
  } catch {
    return undefined;
  }
}
