import { describe, expect, it } from "vitest";
import type { Command } from "./command.ts";
import { parseCommandLine } from "./parse.ts";

const command = (path: string, more: Partial<Command> = {}): Command => ({
  path: path.split(" "),
  summary: "",
  examples: [],
  run: async () => 0,
  ...more,
});
const commands = [
  command("leases list", { flags: [{ name: "watch", short: "w", summary: "" }] }),
  command("leases get", { positionals: [{ name: "NAME" }] }),
  command("exec", { positionals: [{ name: "NAME" }], takesProgram: true }),
];
const parse = (line: string) => {
  const parsed = parseCommandLine(commands, line.split(" "));
  return "help" in parsed ? parsed : { ...parsed, path: parsed.command.path.join(" ") };
};

describe("a command line", () => {
  it.each([
    ["leases", "leases list", []],
    ["leases -w", "leases list", []],
    ["leases list", "leases list", []],
    ["--namespace leases leases get x", "leases get", ["x"]],
    ["leases get --output json x", "leases get", ["x"]],
    ["--output=json leases get list", "leases get", ["list"]],
  ])("%s is %s", (line, path, positionals) => {
    expect(parse(line)).toMatchObject({ path, positionals });
  });

  it("leaves everything after -- to the program, flags and all", () => {
    const rest = ["ls", "--help", "-w", "--", "x"];
    expect(parse(`exec a/b -- ${rest.join(" ")}`)).toMatchObject({ path: "exec", positionals: ["a/b"], rest });
  });

  it.each([
    ["leases --help", ["leases", "list"]],
    ["leases get --help", ["leases", "get"]],
    ["help leases get", ["leases", "get"]],
    ["--help", []],
  ])("%s asks for help", (line, help) => {
    expect(parse(line)).toEqual({ help });
  });
});
