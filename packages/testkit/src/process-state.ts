import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** What the kernel says of a process: `gone` also for a zombie, which runs no more. */
export type ProcessState = "running" | "stopped" | "gone";

/** The state of any process of this machine. */
export async function processState(pid: number): Promise<ProcessState> {
  const letter = process.platform === "linux" ? await letterFromProc(pid) : await letterFromPs(pid);
  if (letter === undefined || letter === "Z" || letter === "X") return "gone";
  return letter === "T" || letter === "t" ? "stopped" : "running";
}

async function letterFromProc(pid: number): Promise<string | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; the state follows the last parenthesis.
    return text.slice(text.lastIndexOf(")") + 2)[0];
  } catch {
    return undefined;
  }
}

async function letterFromPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "state=", "-p", String(pid)]);
    return stdout.trim()[0];
  } catch {
    return undefined;
  }
}
