import { readFile } from "node:fs/promises";

/** Linux counts processor time in hundredths of a second. */
const msPerTick = 10;

/** Processor time that a process has used so far, in ms; its threads are counted. */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name, in parentheses, may contain blanks: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

/** Measures processor time of processes over a span. */
export async function measureCpu(pids: Readonly<Record<string, number>>): Promise<() => Promise<Cpu>> {
  const before = await readAll(pids);
  return async () => {
    const after = await readAll(pids);
    return Object.fromEntries(Object.keys(pids).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
  };
}

/** Processor time by process, in ms. */
export type Cpu = Readonly<Record<string, number>>;

async function readAll(pids: Readonly<Record<string, number>>): Promise<Cpu> {
  return Object.fromEntries(
    await Promise.all(Object.entries(pids).map(async ([name, pid]) => [name, await cpuMs(pid)] as const)),
  );
}
