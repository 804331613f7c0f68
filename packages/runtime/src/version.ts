import { createRequire } from "node:module";

const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };

/** The version of Tenure that this process runs: all packages of one build share it. */
export const productVersion: string = version;
