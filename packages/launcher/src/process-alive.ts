import { readFileSync } from "node:fs";

/** Whether a process of this id runs, whoever owns it. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * What tells a process from a later one with the same id: when it started, as the kernel counts. Empty where the
 * system does not say; then the id alone must do.
 */
export function startOf(pid: number): string {
  try {
    // The name, in brackets, may hold spaces; the start is the 20th field after it.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
