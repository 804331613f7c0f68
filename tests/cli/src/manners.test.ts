import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "@tenure/cli";
import { tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { run } from "./command-line.ts";

/** Nobody listens here. */
const nowhere = "127.0.0.1:9";

describe("manners", () => {
  it.each([
    ["nonsense", 2, 'there is no command "nonsense"'],
    ["leases nonsense", 2, "it has: list, get, describe"],
    ["leases get", 2, "NAME is missing"],
    ["leases get a b", 2, "one word too many"],
    ["leases list --nonsense", 2, "unknown option '--nonsense'"],
    ["leases list -o xml", 2, "--output must be one of"],
    ["exec a/b", 2, "the program is missing"],
    ["exec a/b ls", 2, "a program goes after --"],
    ["status -- ls", 2, "takes nothing after --"],
    ["exec a/b --wait 0 -- ls", 2, "--wait must be above 0"],
    ["exec a/b --coordinated -- ls", 2, "needs --binary-version"],
    ["exec a/b --binary-version 1.0.0 -- ls", 2, "--binary-version needs --coordinated"],
    ["exec a/b --compatibility-version 1.0.0 -- ls", 2, "--compatibility-version needs --coordinated"],
    ["exec a/b --priority 1 -- ls", 2, "--priority needs --coordinated"],
    ["exec a/b --strategy Priority -- ls", 2, "--strategy needs --coordinated"],
    ["exec a/b --zone north -- ls", 2, "--zone needs --coordinated"],
    ["exec a/b --label k=v -- ls", 2, "--label needs --coordinated"],
    ["history a/b --limit none", 2, "--limit must be a whole number from 1"],
    ["priority clear a/b n1 --reason x", 2, "unknown option '--reason'"],
    ["migrations validate -f /dev/null", 2, "there is no document in /dev/null"],
    ["lock a/b -n 0 -- ls", 2, "--holders must be a whole number from 1"],
    ["status --timeout 1", 2, "must be a duration"],
    ["status --timeout 300ms", 1, "is the service running"],
    ["exec a/b -q --wait 300ms -- ls", 11, "a/b was not acquired in time"],
    ["lock a/b -q --wait 300ms -- ls", 11, "a/b was not acquired in time"],
    ["status --context none", 2, 'has no context "none"'],
    ["completion tcsh", 2, "SHELL must be one of bash, zsh, fish"],
  ])("%s ends with %i and one line", async (line, code, text) => {
    const seen = await run(nowhere, line);
    expect(seen.code).toBe(code);
    expect(seen.out).toBe("");
    expect(seen.err).toContain(text);
    expect(seen.err.trimEnd()).not.toContain("\n");
    expect(seen.err).not.toMatch(/\bat .*\.[jt]s:/);
  });

  it.each(["put a b", "delete a"])(
    "a token in the environment that is no number is told, for guard %s",
    async (line) => {
      const environment = { TENURE_LEASE: "a/b", TENURE_TOKEN: "seven" };
      expect(await run(nowhere, `guard ${line}`, { environment })).toEqual({
        code: 2,
        out: "",
        err: 'tenure: TENURE_TOKEN must be a whole number (got "seven")\n',
      });
    },
  );

  it("every command has help with examples, whose flags exist", async () => {
    for (const { examples, flags = [], path } of commands) {
      const { code, out } = await run(nowhere, [...path, "--help"]);
      expect(code).toBe(0);
      expect(out).toContain(`usage: tenure ${path.join(" ")}`);
      expect(examples.length).toBeGreaterThan(0);
      for (const [line] of examples) {
        expect(out).toContain(line);
        const used = line.split(" -- ")[0]?.match(/(?<= )--[a-z-]+/g) ?? [];
        const known = [...flags.map(({ name }) => `--${name}`), "--endpoint", "--namespace", "--output", "--help"];
        expect(known).toEqual(expect.arrayContaining(used));
      }
    }
    expect((await run(nowhere, "help leases")).out).toContain("leases release");
    expect((await run(nowhere, [])).out).toMatch(/exit codes:.*^ {2}--version /ms);
    expect((await run(nowhere, "--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("contexts are named endpoints and credentials in a file that only its user reads", async () => {
    await using folder = await tempDirectory();
    const file = join(folder.path, "tenure", "config.yaml");
    mkdirSync(join(folder.path, "tenure"));
    const options = { environment: { TENURE_CONFIG: file, TENURE_ENDPOINT: "" } };
    const see = (line: string) => run(nowhere, line, options);
    expect((await see("context set prod --endpoint gw-1:1,gw-2:2 --authorization secret --tls")).code).toBe(0);
    expect((await see("context set local --endpoint 127.0.0.1:9 --namespace billing")).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await see("context list")).out).toMatch(/^\* +prod +gw-1:1,gw-2:2 +- +yes$/m);
    expect((await see("context use local")).code).toBe(0);
    expect((await see("context list -o json")).out).not.toContain("secret");
    expect((await see("leader x --timeout 300ms")).err).toContain("127.0.0.1:9");
    expect((await see("context use other")).code).toBe(2);
    expect((await see("context delete local")).code).toBe(0);
    expect((await see("context list -o name")).out).toBe("prod\n");
  });

  it.each(["bash", "zsh", "fish"])("completion of %s knows every command and flag", async (shell) => {
    const { out } = await run(nowhere, `completion ${shell}`);
    for (const { flags = [], path } of commands) {
      for (const word of path) expect(out).toContain(word);
      for (const { name } of flags) expect(out).toContain(name);
    }
  });

  it("bash completes commands, verbs and flags with it", async () => {
    const { out } = await run(nowhere, "completion bash");
    const complete = (...words: readonly string[]): readonly string[] => {
      const typed = `COMP_WORDS=(tenure ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}`;
      const script = `${out}\n${typed}\n_tenure\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
    };
    expect(complete("sta")).toEqual(["status"]);
    expect(complete("leases", "de")).toEqual(["describe", "delete"]);
    expect(complete("exec", "billing/scheduler", "--pre")).toEqual(["--pre-stop"]);
  });

  it.each(["bash", "zsh", "fish"])("%s reads its script without complaint, where it is installed", async (shell) => {
    const { out } = await run(nowhere, `completion ${shell}`);
    await using folder = await tempDirectory();
    const file = join(folder.path, "script");
    writeFileSync(file, out);
    const { error, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    // Not every machine has every shell.
    if (error === undefined) expect(stderr).toBe("");
    else expect(error).toMatchObject({ code: "ENOENT" });
  });
});
