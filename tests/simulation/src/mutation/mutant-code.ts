import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { StoreCode } from "../store/store-code.ts";

/** One change of the built production code. */
export interface Edit {
  readonly module: "core" | "election" | "lease-store" | "log" | "reader";
  /** Within the module's `dist`. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

const require = createRequire(import.meta.url);
/** Not under version control, and below a `node_modules`, so that the copies are loaded as they are. */
const shelf = join(dirname(fileURLToPath(import.meta.url)), "../../.results/mutants");

/** Loads a copy of core, the log and what stands on them with the edits made; everything else is shared with the production code. */
export async function mutatedCode(name: string, edits: readonly Edit[]): Promise<StoreCode> {
  const scope = join(shelf, name, "node_modules/@tenure");
  await rm(join(shelf, name), { recursive: true, force: true });
  await copyBuilt(dirname(require.resolve("@tenure/core")), join(scope, "core"), "");
  await copyBuilt(dirname(require.resolve("@tenure/lease-store/replica")), join(scope, "lease-store"), "replica");
  await copyBuilt(dirname(require.resolve("@tenure/log")), join(scope, "log"), "");
  await copyBuilt(dirname(require.resolve("@tenure/reader")), join(scope, "reader"), "");
  await copyBuilt(dirname(require.resolve("@tenure/election/coordinator")), join(scope, "election"), "coordinator");
  for (const edit of edits) await make(join(scope, edit.module, "dist", edit.file), edit);
  const load = (path: string) => import(pathToFileURL(join(scope, path)).href);
  return {
    ...(await load("lease-store/dist/replica/index.js")),
    ...(await load("log/dist/batch-writer.js")),
    ...(await load("reader/dist/index.js")),
    ...(await load("election/dist/coordinator/index.js")),
  };
}

async function copyBuilt(from: string, to: string, folder: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await cp(from, join(to, "dist", folder), { recursive: true });
  const exports = { ".": "./dist/index.js" };
  await writeFile(join(to, "package.json"), JSON.stringify({ type: "module", exports }));
}

async function make(path: string, { find, replace }: Edit): Promise<void> {
  const text = await readFile(path, "utf8");
  const times = text.split(find).length - 1;
  if (times !== 1)
    throw new Error(`${path} has ${times} places like ${JSON.stringify(find)}: adapt the mutation to the code`);
  await writeFile(
    path,
    text.replace(find, () => replace),
  );
}
