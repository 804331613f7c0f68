import { readFileSync } from "node:fs";
import { defaultLeaseSpec, strategyNamed } from "@tenure/core";
import { parseDuration } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { strategyDetails } from "../command/strategy-words.ts";
import { leaseFields } from "./lease-document.ts";

const page = readFileSync(new URL("../../../../docs/elections.md", import.meta.url), "utf8");

/** The rows of the page's table whose first title this is. */
function rowsOf(title: string): readonly (readonly string[])[] {
  const [, table = ""] = page.split(`| ${title} |`);
  const lines = (table.split("\n\n")[0] ?? "").split("\n").slice(2);
  return lines.map((line) =>
    line
      .split("|")
      .map((cell) => cell.trim().replaceAll("`", ""))
      .slice(1, -1),
  );
}

describe("docs/elections.md", () => {
  it("has every field of a lease's document", () => {
    expect(
      rowsOf("field of `spec`")
        .map(([field]) => field)
        .sort(),
    ).toEqual([...leaseFields].sort());
  });

  it("has the defaults that the store has", () => {
    const defaults: Readonly<Record<string, unknown>> = { ...defaultLeaseSpec };
    for (const [field = "", text = ""] of rowsOf("field of `spec`")) {
      if (`${field}Ms` in defaults) {
        const ms = text === "never" ? undefined : parseDuration(text, field);
        expect(ms, field).toBe(defaults[`${field}Ms`]);
      } else if (text === "none") expect(Object.keys(defaults[field] ?? {}), field).toEqual([]);
      else expect(text, field).toBe(String(defaults[field]));
    }
  });

  it("has every strategy that help names, the default among them", () => {
    const names = rowsOf("strategy").map(([name = ""]) => name);
    for (const name of names.filter((one) => one !== "an expression")) {
      if (name !== "domain/name") expect(strategyNamed(name), name).toBeDefined();
      expect(strategyDetails).toContain(name);
    }
    expect(rowsOf("strategy").find(([, meaning = ""]) => meaning.endsWith("The default"))?.[0]).toBe(
      "OldestCompatibilityVersion",
    );
  });
});
