import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const folder = new URL("../../.results/", import.meta.url).pathname;

/** Writes what was measured where the test's other results are, `.results/<name>.json`. */
export async function tell(name: string, measured: object): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify(measured, undefined, 2)}\n`);
}
