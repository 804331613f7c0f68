import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

function run(script: string, argument: string) {
  return spawnSync(process.execPath, [join(root, "scripts", script), argument], { encoding: "utf8" });
}

describe.each(["demo.mjs", "test.mjs"])("scripts/%s", (script) => {
  it("says with --help how it is used, and does nothing else", () => {
    const { status, stderr, stdout } = run(script, "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^usage: npm (run demo|test)[\s\S]+--help +this text\n$/);
  });

  it("refuses what it does not know, by its name", () => {
    const { status, stderr, stdout } = run(script, "--nonsense");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^tenure: Unknown option '--nonsense'\n\nusage: npm /);
  });
});
