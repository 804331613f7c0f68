import { describe, expect, it } from "vitest";
import { commands } from "../commands.ts";
import { helpText } from "./help.ts";

const help = (line: string) => helpText(commands, line === "" ? [] : line.split(" "));

describe("help", () => {
  it.each(["strategy set", "exec", "dry-run"])("of %s names the strategies, and the default", (line) => {
    expect(help(line)).toContain("OldestCompatibilityVersion (the default)");
    for (const name of ["NewestCompatibilityVersion", "Priority", "NoCoordination", "domain/name"]) {
      expect(help(line)).toContain(name);
    }
  });

  it("of apply names the kinds, and where their fields are explained", () => {
    for (const text of ["Lease and LeaderMigrationConfiguration", "docs/elections.md", "docs/migration.md"]) {
      expect(help("apply")).toContain(text);
    }
  });

  it.each([
    ["cordon", "--reason TEXT"],
    ["step-down", "--reason TEXT"],
    ["transfer", "--reason TEXT"],
    ["transfer", "--to CANDIDATE"],
    ["leases release", "--reason TEXT"],
    ["apply", "--file FILE"],
    ["migrations validate", "--file FILE"],
  ])("of %s says that %s is required", (line, flag) => {
    expect(help(line)).toMatch(new RegExp(`${flag} +required: `));
  });

  it.each([
    ["strategy set", "why; kept in the lease's history"],
    ["priority set", "why; shown with the candidate while the priority lasts"],
    ["cordon", "why; shown with the candidate while the cordon lasts"],
  ])("of %s says what becomes of the reason", (line, text) => {
    expect(help(line)).toContain(text);
  });

  it("of priority clear offers no reason, because the service keeps none", () => {
    expect(help("priority clear")).not.toContain("--reason");
  });

  it("of everything names --version and the flags of every command", () => {
    expect(help("")).toMatch(/^ {2}--version +print the version/m);
    expect(help("")).toMatch(/^ {2}--namespace NAMESPACE +/m);
  });
});
