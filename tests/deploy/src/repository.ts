import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository's root folder, with a closing slash. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The text of a file of the repository. */
export function readText(path: string): string {
  return readFileSync(`${root}${path}`, "utf8");
}

/** The services of the repository, by the folders that hold them. */
export function serviceNames(): readonly string[] {
  return readdirSync(`${root}services`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** The version that every package and image of the product carries. */
export function productVersion(): string {
  return (JSON.parse(readText("package.json")) as { version: string }).version;
}
