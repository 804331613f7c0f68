import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** A file for each port that a test process has been given, with the process's id in it. */
const folder = join(tmpdir(), `tenure-test-ports-${userInfo().uid}`);
const own: string[] = [];

/**
 * Reserves a port among the test processes of this machine until this one ends; false if another has it. Between the
 * moment at which a port is found free and the one at which a server listens on it, only this keeps others from it.
 */
export function reservePort(port: number): boolean {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, String(port));
  if (!write(path)) {
    if (isReserved(path)) return false;
    // Its process was killed before it could clean up.
    rmSync(path, { force: true });
    if (!write(path)) return false;
  }
  if (own.length === 0) process.once("exit", giveBack);
  own.push(path);
  return true;
}

function write(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/** Whether the process that wrote a file is alive; also while it has not written its id yet. */
function isReserved(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    return pid === 0 || process.kill(pid, 0);
  } catch {
    return false;
  }
}

function giveBack(): void {
  for (const path of own) rmSync(path, { force: true });
}
