import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A Markdown page of the repository. */
export interface Page {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
}

/** Every Markdown page, whether committed yet or not. */
export function pages(): readonly Page[] {
  const list = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], { cwd: root, encoding: "utf8" });
  return list
    .split("\n")
    .filter((path) => path !== "")
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, "utf8") }));
}

/** A fenced block of a page. */
export interface Sample {
  readonly page: string;
  readonly line: number;
  readonly code: string;
}

/** The fenced blocks of one language on a page. */
export function samples({ path, text }: Page, language: string): readonly Sample[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm");
  return [...text.matchAll(fence)].map(({ index, 1: code = "" }) => ({
    page: path,
    line: text.slice(0, index).split("\n").length,
    code,
  }));
}
