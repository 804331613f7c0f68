import { fileURLToPath } from "node:url";
import { startScript } from "@tenure/testkit";

const main = fileURLToPath(new URL("../../../packages/provision/dist/main.js", import.meta.url));

/** How a run of the program ended, and all that it printed. */
export interface ProvisionRun {
  readonly code: number | null;
  readonly output: string;
}

/** Runs `tenure-provision` as a process of its own. */
export async function runProvision(...args: readonly string[]): Promise<ProvisionRun> {
  await using process = startScript(main, { args });
  const { code } = await process.ended;
  return { code, output: process.output.all.join("\n") };
}
