import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { type ManagedProcess, startProcess } from "@tenure/testkit";
import { binFile, environmentOf } from "./command-line.ts";

const unshare = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Whether a process can be process 1 of a namespace of its own here. */
export const canBeFirst = spawnSync("unshare", [...unshare, "true"]).status === 0;

/** Whether a terminal can be made up here. */
export const hasTerminals = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

function environment(endpoint: string): Readonly<Record<string, string>> {
  return { ...environmentOf(endpoint), TERM: "xterm" };
}

/** Starts the installed command as process 1, as in a container. */
export function startFirst(endpoint: string, argv: readonly string[]): ManagedProcess {
  const env = environment(endpoint);
  return startProcess("unshare", { name: "tenure as process 1", args: [...unshare, binFile, ...argv], env });
}

/** Runs the installed command on a terminal of its own; gives what it printed. */
export async function runOnTerminal(
  endpoint: string,
  line: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...process.env, ...environment(endpoint), ...more };
  const args = ["-qec", `${binFile} ${line}`, "/dev/null"];
  return (await promisify(execFile)("script", args, { env, timeout: 60_000 })).stdout;
}
