import { fileURLToPath } from "node:url";
import { nodeOptions } from "@tenure/launcher";
import { type ManagedProcess, type ProcessOptions, startProcess } from "./managed-process.ts";

/** The repository's root, from `packages/testkit/src` and from `packages/testkit/dist` alike. */
const repositoryRoot = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts a Node program in a process of its own. */
export function startScript(path: string, options: ProcessOptions = {}): ManagedProcess {
  return startProcess(process.execPath, {
    name: path,
    ...options,
    args: [...nodeOptions, path, ...(options.args ?? [])],
  });
}

/** Starts one of our services, `services/<name>/dist/main.js`, as it runs in production. It must have been built. */
export function startService(name: string, options: ProcessOptions = {}): ManagedProcess {
  return startScript(`${repositoryRoot}services/${name}/dist/main.js`, { name, ...options });
}
