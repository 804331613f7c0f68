import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchmarkResult } from "../runner.ts";
import type { Machine } from "./machine.ts";
import { renderPage } from "./page.ts";

/** Everything that a run measured. */
export interface RunResult {
  /** When it began, as ISO 8601. */
  readonly startedAt: string;
  readonly isQuick: boolean;
  readonly machine: Machine;
  /** The systems that were measured: versions and settings. */
  readonly systems: readonly string[];
  readonly benchmarks: readonly BenchmarkResult[];
}

/** `tests/bench/results`, which is not kept in the repository. */
const directory = fileURLToPath(new URL("../../results", import.meta.url));

/** Writes a run under its time, as JSON and as a page, and returns the path of the JSON. */
export async function writeResult(result: RunResult): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${result.startedAt.replaceAll(":", "-")}.json`);
  await writeFile(path.replace(/json$/, "html"), renderPage(result));
  await writeFile(path, `${JSON.stringify(result, undefined, 2)}\n`);
  return path;
}
