import { Worker } from "node:worker_threads";
import type { SimulationArguments } from "./arguments.ts";
import { describeTally, sum, type Tally } from "./report.ts";

/** Shares the seeds among threads, tells of failures as they come, and ends with one line; gives the sums. */
export async function simulateInThreads(
  { from, jobs, keep, seeds }: SimulationArguments,
  tell: (line: string) => void,
): Promise<Tally> {
  const share = Math.ceil(seeds / jobs);
  const parts = Array.from({ length: jobs }, (_, job) => {
    const begin = from + job * share;
    return { from: begin, seeds: Math.min(share, from + seeds - begin), keep };
  });
  const tallies = await Promise.all(parts.filter((part) => part.seeds > 0).map((part) => simulatePart(part, tell)));
  const total = sum(tallies);
  tell(describeTally(total));
  return total;
}

function simulatePart(part: Omit<SimulationArguments, "jobs">, tell: (line: string) => void): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL("./simulate-thread.js", import.meta.url), { workerData: part });
    thread.on("message", ({ line, tally }: { readonly line?: string; readonly tally?: Tally }) => {
      if (line !== undefined) tell(line);
      if (tally !== undefined) resolve(tally);
    });
    thread.on("error", reject);
    thread.on("exit", (code) =>
      reject(new Error(`a thread of the simulation ended with ${code} before its seeds did`)),
    );
  });
}
