import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";

/**
 * Becomes the program, after leaving a watcher behind that reads file descriptor 3. The starting process holds the
 * other end and never writes: the read ends when that end is closed, which the kernel does however that process ended.
 * The watcher then kills its process group: the program, whatever it started, and itself. The leash is on before the
 * program runs, so no moment exists in which the program could be left alone.
 */
const leashScript = `
( read -r _ <&3; kill -KILL 0 ) </dev/null >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** A program to start on a leash. */
export interface LeashedCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly directory?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the program's output goes: to this process as streams, or where this process's own goes. */
  readonly output: "pipe" | "inherit";
}

/**
 * Starts a program that dies with this process, also when this process is killed with -9. It leads a process group of
 * its own, so that a Ctrl-C on the terminal reaches only this process, which stops it in order; what is left of the
 * group when the program ends is killed too.
 */
export function spawnOnLeash(command: LeashedCommand): ChildProcess {
  const child = spawn("/bin/sh", ["-c", leashScript, "leash", command.file, ...command.arguments], {
    cwd: command.directory,
    env: { ...command.environment },
    detached: true,
    stdio: ["ignore", command.output, command.output, "pipe"],
  });
  const leash = child.stdio[3] as Duplex | null;
  leash?.on("error", () => undefined);
  child.once("exit", () => leash?.destroy());
  return child;
}
