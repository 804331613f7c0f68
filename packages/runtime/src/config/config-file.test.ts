import { describe, expect, it } from "vitest";
import { readConfigFile } from "./config-file.ts";
import { keysOf } from "./key.ts";
import { describeProblem } from "./problem.ts";

const keys = keysOf({
  httpPort: { kind: "integer", min: 0, max: 9, doc: "Port." },
  natsUrl: { kind: "list", doc: "Servers." },
});

function read(text: string) {
  const { given, problems } = readConfigFile("t.yaml", () => text, keys);
  return {
    given: Object.fromEntries([...given].map(([key, { raw }]) => [key, raw])),
    problems: problems.map(describeProblem),
  };
}

describe("readConfigFile", () => {
  it.each([
    ["YAML", "# comment\nhttp-port: 8\nnats-url:\n  - nats://a\n  - nats://b\n"],
    ["JSON", '{ "http-port": 8, "nats-url": ["nats://a", "nats://b"] }'],
  ])("reads %s", (_, text) => {
    expect(read(text)).toEqual({ given: { "http-port": 8, "nats-url": ["nats://a", "nats://b"] }, problems: [] });
  });

  it("takes an empty file for no values", () => {
    expect(read("\n# nothing yet\n")).toEqual({ given: {}, problems: [] });
  });

  it.each([
    ["http-prot: 1\n", "t.yaml:1: http-prot is not a known key: did you mean http-port?"],
    ["\n\nhttp-port:\n", "t.yaml:3: http-port has no value (got null)"],
    ["- a\n", "t.yaml must be a mapping of keys to values"],
    ["http:\n  port: 1\n", "t.yaml:1: http is not a known key: see --help"],
  ])("refuses %j", (text, problem) => {
    expect(read(text).problems).toEqual([problem]);
  });

  it("names the line of a syntax error or of a key that is there twice", () => {
    expect(read("http-port: 1\nhttp-port: 2\n").problems[0]).toMatch(/^t\.yaml:2: is not valid YAML or JSON: .*unique/);
    expect(read("http-port: [1\n").problems[0]).toMatch(/^t\.yaml:\d+: is not valid YAML or JSON: /);
  });
});
