import { readFileSync } from "node:fs";

/** Clock ticks a second, as Linux counts processor time. */
const ticksPerSecond = 100;

/** Processor time that a process has used, in milliseconds; 0 when it cannot be read. */
export function processorMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
  } catch {
    return 0;
  }
}
