import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { pages, root, samples } from "./pages.ts";

/** The npm scripts of the root, or of the workspace that a command names. */
function scriptsOf(workspace: string | undefined): Readonly<Record<string, string>> {
  const folder =
    workspace === undefined ? root : fileURLToPath(new URL(`../../../node_modules/${workspace}`, import.meta.url));
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).scripts;
}

describe("the docs", () => {
  it("link only to what exists", () => {
    const broken = pages().flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !existsSync(resolve(root, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it("name only npm scripts and examples that exist", () => {
    const unknown = pages().flatMap(({ path, text }) =>
      [
        ...[...text.matchAll(/npm run ([\w:]+)(?: -w (@tenure\/[\w-]+))?/g)].filter(
          ([, name = "", workspace]) => scriptsOf(workspace)[name] === undefined,
        ),
        ...[...text.matchAll(/node (examples\/[\w./-]+)/g)].filter(([, file = ""]) => !existsSync(`${root}${file}`)),
      ].map(([command]) => `${path}: ${command}`),
    );
    expect(unknown).toEqual([]);
  });

  it("show TypeScript that compiles", () => {
    const folder = fileURLToPath(new URL("../.results/samples", import.meta.url));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const all = pages().flatMap((page) => samples(page, "ts"));
    expect(all.length).toBeGreaterThan(3);
    for (const { page, line, code } of all) {
      writeFileSync(join(folder, `${page.replaceAll(/\W+/g, "-")}-${line}.ts`), `${code}\nexport {};\n`);
    }
    const config = {
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: { noEmit: true, noUnusedLocals: false, noUnusedParameters: false },
      include: ["*.ts"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
  });
});
