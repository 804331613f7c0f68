import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads one folder a line. When its input closes, which the kernel does however the test process ended, it removes
 * them; a process that is just being killed may still write, so it tries for five seconds.
 */
const sweeperScript = `
while IFS= read -r line; do set -- "$@" "$line"; done
tries=0
while [ "$tries" -lt 50 ]; do
  rm -rf -- "$@" 2>/dev/null && break
  tries=$((tries + 1))
  sleep 0.1
done`;

let sweeper: ChildProcess | undefined;

/** Has the folder removed when this process is gone, also when it was killed with -9. */
export function sweepLater(directory: string): void {
  sweeper ??= startSweeper();
  sweeper.stdin?.write(`${directory}\n`);
}

function startSweeper(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", sweeperScript, "sweeper"], {
    // A session of its own: an interrupt on the terminal does not reach it.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.stdin?.on("error", () => undefined);
  // Neither the process nor its pipe keeps the test process alive.
  child.unref();
  (child.stdin as { unref?: () => void } | null)?.unref?.();
  return child;
}
