import { fileURLToPath } from "node:url";
import { type ManagedProcess, startScript } from "@tenure/testkit";

const script = fileURLToPath(new URL("../dist/probe/main.js", import.meta.url));

/** Starts the probe service in a process of its own, on any free HTTP port, in development mode. */
export function startProbe(args: readonly string[], env: Readonly<Record<string, string>> = {}): ManagedProcess {
  return startScript(script, {
    name: "probe",
    args,
    env: { TENURE_MODE: "development", TENURE_HTTP_PORT: "0", ...env },
  });
}

/** The log lines of a process, parsed; other lines are left out. */
export function logOf(process: ManagedProcess): readonly Readonly<Record<string, unknown>>[] {
  return process.output.all.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

/** What a process said for people, on standard error. */
export function complaintsOf(process: ManagedProcess): readonly string[] {
  return process.output.all.filter((line) => !line.startsWith("{"));
}

/** Where the probe's HTTP is, once it listens. */
export async function httpOf(process: ManagedProcess): Promise<string> {
  const line = await process.waitForLine('"http listens"');
  return `http://127.0.0.1:${JSON.parse(line).port}`;
}

/** Runs the probe to its end. */
export async function runProbe(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  await using process = startProbe(args, env);
  const { code } = await process.waitForExit();
  return { code, complaints: complaintsOf(process), output: process.output.all };
}
