import { relative } from "node:path";
import { systemClock, systemRandom, toFault } from "@tenure/kernel";
import type { Environment } from "./environment.ts";
import { type LaunchOptions, parseOptions, usage } from "./options.ts";
import { readyBlock } from "./ready-block.ts";
import { System } from "./system.ts";

/** `npm start`: runs the system until it is told to stop. Exit codes: 0 stopped, 1 failed, 2 wrong use. */
export async function main(argv: readonly string[], environment: Environment): Promise<void> {
  const options = readOptions(argv);
  if (options === undefined) return;
  const stop = new AbortController();
  const hurry = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) hurry.abort();
    else stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  const system = new System({ options, environment, clock: systemClock, random: systemRandom, report });
  try {
    const running = await orAborted(system.start(stop.signal), stop.signal);
    console.log(readyBlock({ ...running, dataFolder: shortPath(running.dataFolder) }));
    await new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve(), { once: true }));
  } catch (thrown) {
    if (!stop.signal.aborted) complain(thrown);
  }
  if (stop.signal.aborted) report("stopping; press Ctrl-C again to hurry");
  await system.stop(hurry.signal);
  if (stop.signal.aborted) report("stopped");
  process.exit();
}

function readOptions(argv: readonly string[]): LaunchOptions | undefined {
  try {
    const options = parseOptions(argv, process.cwd());
    if (!options.help) return options;
    console.log(usage);
  } catch (thrown) {
    complain(thrown);
    process.exitCode = 2;
  }
  return undefined;
}

/** The result, or a rejection as soon as the signal is aborted: a Ctrl-C need not wait for what is under way. */
function orAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    result.then(resolve, reject);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** A path as a person at this folder would type it. */
function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
}

function complain(thrown: unknown): void {
  process.exitCode = 1;
  console.error(`tenure: ${toFault(thrown).message}`);
}

function report(line: string): void {
  console.error(`tenure: ${line}`);
}
