import { type Host, processHost } from "@tenure/runtime";
import { describe, expect, it } from "vitest";
import { runProvision } from "./command-line.ts";

async function run(...argv: readonly string[]): Promise<{ code: number; out: string; err: readonly string[] }> {
  let out = "";
  const err: string[] = [];
  const host: Host = {
    ...processHost(),
    argv,
    environment: {},
    print: (text) => {
      out += text;
    },
    complain: (line) => void err.push(line),
  };
  return { code: await runProvision(host), out, err };
}

describe("tenure-provision", () => {
  it("lists its commands, as a mistake when none is named", async () => {
    const help = await run("--help");
    expect(help).toMatchObject({ code: 0, err: [] });
    expect(help.out).toMatch(/credentials .*\n.*init /);
    expect(await run()).toMatchObject({ code: 2, out: help.out });
  });

  it("says its version", async () => {
    expect(await run("--version")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^tenure-provision \d+\.\d+\.\d+\n$/),
    });
  });

  it.each([
    [["make"], 'tenure provision: unknown command "make": use one of credentials, init'],
    [["toString"], 'tenure provision: unknown command "toString": use one of credentials, init'],
    [["credentials"], "tenure provision credentials: --dir is required: give it, TENURE_DIR or dir in the file"],
    [["init", "--replica", "3"], "tenure provision init: --replica is not a known flag: did you mean --replicas?"],
  ])("answers %j with one line and code 2", async (argv, line) => {
    expect(await run(...argv)).toEqual({ code: 2, out: "", err: [line] });
  });

  it("describes every flag of a command", async () => {
    const { code, out } = await run("init", "--help");
    expect(code).toBe(0);
    for (const flag of [
      "--nats-url",
      "--nats-nkey-file",
      "--nats-system-nkey-file",
      "--mode",
      "--replicas",
      "--partitions",
    ])
      expect(out).toContain(flag);
  });
});
