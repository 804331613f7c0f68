import { readFileSync } from "node:fs";

/** The version of the command line, from its own package. */
export const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
