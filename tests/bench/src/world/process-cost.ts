import { readFile } from "node:fs/promises";

/** What a process has cost so far, as the kernel counts it. Linux only. */
export interface ProcessCost {
  /** User and system time of all its threads. */
  readonly cpuMs: number;
  /** Its resident memory at present, all of it: what an operator sees. */
  readonly memoryBytes: number;
}

/** Linux counts CPU time in hundredths of a second, on every architecture that Node runs on. */
const tickMs = 10;

/** Reads the cost of a process of this machine. */
export async function costOf(pid: number): Promise<ProcessCost> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/status`, "utf8"),
  ]);
  return { cpuMs: cpuTicks(stat) * tickMs, memoryBytes: residentKilobytes(status) * 1_024 };
}

/** The sum of user and system time in the kernel's line about a process; its name may hold anything, even spaces. */
export function cpuTicks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** All resident pages (`VmRSS`). */
export function residentKilobytes(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
