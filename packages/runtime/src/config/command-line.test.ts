import { describe, expect, it } from "vitest";
import { readCommandLine, requestOf } from "./command-line.ts";
import { defineConfig } from "./field.ts";
import { keysOf } from "./key.ts";
import { describeProblem } from "./problem.ts";

const keys = keysOf(
  defineConfig({
    natsUrl: { kind: "list", default: [], doc: "Servers." },
    httpPort: { kind: "integer", default: 1, min: 0, max: 9, doc: "Port." },
    verbose: { kind: "boolean", default: true, doc: "More." },
  }),
);

function read(...argv: readonly string[]) {
  const { given, problems, ...rest } = readCommandLine(argv, keys);
  return {
    ...rest,
    given: Object.fromEntries([...given].map(([key, { raw }]) => [key, raw])),
    problems: problems.map(describeProblem),
  };
}

describe("readCommandLine", () => {
  it.each([
    [["--http-port", "3"], { "http-port": "3" }],
    [["--http-port=3"], { "http-port": "3" }],
    [["--http-port="], { "http-port": "" }],
    [["--verbose"], { verbose: "true" }],
    [["--verbose=false"], { verbose: "false" }],
    [["--no-verbose"], { verbose: "false" }],
    [["--nats-url", "a", "--nats-url=b"], { "nats-url": ["a", "b"] }],
    [["--http-port", "-3"], { "http-port": "-3" }],
  ])("reads %j", (argv, given) => {
    expect(read(...argv)).toMatchObject({ given, problems: [] });
  });

  it.each([
    [["--http-port"], "--http-port needs a value"],
    [["--http-port", "--verbose"], "--http-port needs a value"],
    [["--http-port=1", "--http-port=2"], "--http-port is given more than once (also as --http-port)"],
    [["--verbose", "--no-verbose"], "--no-verbose is given more than once (also as --verbose)"],
    [["--no-http-port"], "--no-http-port is not a known flag: did you mean --http-port?"],
    [["--prnt-config"], "--prnt-config is not a known flag: did you mean --print-config?"],
    [["--unheard-of", "value"], "--unheard-of is not a known flag: see --help"],
    [["serve"], '"serve" is not expected here: every option begins with --'],
    [["-o", "xml"], '-o must be text or json (got "xml")'],
    [["-x"], "-x is not a known flag: see --help"],
  ])("refuses %j", (argv, problem) => {
    expect(read(...argv).problems).toEqual([problem]);
  });

  it("answers help before anything else, also beside mistakes", () => {
    expect(requestOf(["--wrong", "--version", "-h"])).toBe("help");
    expect(requestOf(["--print-config", "-V"])).toBe("version");
    expect(requestOf(["--print-config"])).toBe("print-config");
    expect(requestOf([])).toBe("run");
  });

  it("takes the file and the output format for itself", () => {
    expect(read("--config", "t.yaml", "--print-config", "-o", "json")).toMatchObject({
      request: "print-config",
      output: "json",
      configPath: "t.yaml",
      problems: [],
    });
  });
});
