import { type Clock, Fault } from "@tenure/kernel";
import { runCommand } from "./command.ts";
import { parseServerVersion } from "./version.ts";

/** The file name of the server's program. */
export function binaryName(platform: NodeJS.Platform): string {
  return platform === "win32" ? "nats-server.exe" : "nats-server";
}

/** A healthy binary answers in milliseconds; the rest is for a cold disk. */
const versionTimeoutMs = 20_000;

/** The version that the binary at `path` says it has. Throws when it does not run or says something else. */
export async function readBinaryVersion(path: string, clock: Clock, signal?: AbortSignal): Promise<string> {
  const output = await runCommand({ file: path, arguments: ["--version"], timeoutMs: versionTimeoutMs, clock, signal });
  const version = output.includes("nats-server") ? parseServerVersion(output) : undefined;
  if (version !== undefined) return version;
  throw new Fault({
    code: "FAILED_PRECONDITION",
    reason: "NOT_NATS_SERVER",
    message: `${path} --version does not name a nats-server version (it printed ${JSON.stringify(output.slice(0, 80))})`,
  });
}
