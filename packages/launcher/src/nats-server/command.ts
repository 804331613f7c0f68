import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type Clock, Fault } from "@tenure/kernel";

/** A program to run to its end. */
export interface Command {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The program is killed when it runs longer. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Takes each line that the program writes to file descriptor 3. */
  readonly onStatus?: (line: string) => void;
}

/** The longest output that is kept of each stream: enough for a package list, bounded against a program gone wild. */
const longestOutput = 4 * 1024 * 1024;

/** Runs a program and returns its standard output. Any other end than exit code 0 is a fault that quotes its last lines. */
export async function runCommand(command: Command): Promise<string> {
  command.signal?.throwIfAborted();
  const child = spawn(command.file, command.arguments, {
    cwd: command.directory,
    env: { ...command.environment },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  forwardLines(child.stdio[3] as Readable, command.onStatus);
  let timedOut = false;
  const timer = command.clock.schedule(command.timeoutMs, () => {
    timedOut = true;
    child.kill("SIGKILL");
  });
  const onAbort = (): void => void child.kill("SIGKILL");
  command.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const end = await new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("close", (code, signal) => resolve(code === 0 ? "" : `ended with ${signal ?? `exit code ${code}`}`));
    });
    command.signal?.throwIfAborted();
    if (end === "") return output();
    throw commandFault(command, timedOut ? `took longer than ${command.timeoutMs / 1000} s` : end, errors());
  } finally {
    timer.cancel();
    command.signal?.removeEventListener("abort", onAbort);
  }
}

function commandFault(command: Command, end: string, errors: string): Fault {
  const said = errors.trim().split("\n").slice(-3).join(" ").trim();
  return new Fault({
    code: "UNAVAILABLE",
    reason: "COMMAND_FAILED",
    message: `${command.file} ${command.arguments.at(-1) ?? ""} ${end}${said === "" ? "" : `: ${said}`}`,
  });
}

function collect(stream: Readable | null): () => string {
  let text = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk: string) => {
    if (text.length < longestOutput) text += chunk;
  });
  return () => text;
}

function forwardLines(stream: Readable, take: ((line: string) => void) | undefined): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take?.(line);
  });
  // A program that closes its status pipe early is not an error.
  stream.on("error", () => undefined);
}
