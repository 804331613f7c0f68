import { fileURLToPath } from "node:url";
import { type ManagedProcess, startScript } from "@tenure/testkit";

/** Starts a program of this package, which the build has compiled, and waits until it says `ready`. */
export async function startEchoServer(url: string, ...args: readonly string[]): Promise<ManagedProcess> {
  const process = startProgram("echo-process", url, ...args);
  await process.waitForLine("ready");
  return process;
}

/** Starts a program of this package in a process of its own. */
export function startProgram(name: string, ...args: readonly string[]): ManagedProcess {
  return startScript(fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url)), { name, args });
}
