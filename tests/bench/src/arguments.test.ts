import { describe, expect, it } from "vitest";
import { readArguments } from "./arguments.ts";
import { helpText } from "./help.ts";
import { all, benchmarksNamed } from "./rows/index.ts";

describe("the command line", () => {
  it("asks for a full run of everything unless it says otherwise", () => {
    expect(readArguments([])).toEqual({
      isHelp: false,
      isQuick: false,
      isCheck: false,
      isDocument: false,
      rounds: 5,
      leases: undefined,
      names: [],
      nodeOptions: [],
    });
    expect(benchmarksNamed([]).map(({ name }) => name)).toContain("growth");
    expect(benchmarksNamed([], true).map(({ name }) => name)).not.toContain("growth");
    expect(benchmarksNamed(["growth"], true).map(({ name }) => name)).toEqual(["growth"]);
  });

  it("names benchmarks, rounds and options of processes", () => {
    const args = [
      "--quick",
      "--check",
      "--document",
      "--rows",
      "growth,memory",
      "--rounds=9",
      "--leases=1000000",
      "--node-options=--cpu-prof --cpu-prof-dir=/tmp",
    ];
    expect(readArguments(args)).toEqual({
      isHelp: false,
      isQuick: true,
      isCheck: true,
      isDocument: true,
      rounds: 9,
      leases: 1_000_000,
      names: ["growth", "memory"],
      nodeOptions: ["--cpu-prof", "--cpu-prof-dir=/tmp"],
    });
  });

  it.each([[["--rounds=0"]], [["--rounds=x"]], [["--leases=7"]], [["--slow"]]])("refuses %j", (args) => {
    expect(() => readArguments(args)).toThrow();
  });

  it("says what there is when it is asked", () => {
    expect(readArguments(["--help"]).isHelp).toBe(true);
    const text = helpText(all);
    for (const { name } of all) expect(text).toContain(`  ${name}`);
    for (const option of ["quick", "rows", "rounds", "leases", "check", "document"])
      expect(text).toContain(`--${option}`);
  });

  it("refuses a benchmark that is not there, with the names of those that are", () => {
    expect(() => benchmarksNamed(["grwth"])).toThrow(/^there is no benchmark grwth; there are .*growth, memory/);
  });
});
