import { describeProblem } from "@tenure/runtime";
import { describe, expect, it } from "vitest";
import { readPolicyText } from "./policy-file.ts";

function problemsOf(text: string): readonly string[] {
  const read = readPolicyText(text, "p.yaml");
  return "problems" in read ? read.problems.map(describeProblem) : [];
}

/** A policy of one rule with these lines in place of those of the same key. */
function withLines(lines: Readonly<Record<string, string>>): string {
  const rule = { principals: '["*"]', namespaces: "[billing]", verbs: "[lead]", ...lines };
  const all = Object.entries(rule).map(([key, value]) => `${key}: ${value}`);
  return `rules:\n  - ${all.join("\n    ")}\n`;
}

describe("a policy file", () => {
  it("is YAML or JSON", () => {
    const rule = {
      principals: ["spiffe://example.org/billing", "spiffe://example.org/ops/*"],
      namespaces: ["billing", "*"],
      names: ["invoices", "report-*", "group:part"],
      verbs: ["observe", "lead", "operate"],
    };
    expect(readPolicyText(JSON.stringify({ rules: [rule] }), "p.json")).toEqual({ rules: [rule] });
    expect(readPolicyText(withLines({}), "p.yaml")).toEqual({
      rules: [{ principals: ["*"], namespaces: ["billing"], names: undefined, verbs: ["lead"] }],
    });
  });

  it.each<[string, string]>([
    ["", "p.yaml:1: the policy must be a mapping with the key rules (got null)"],
    ["- rules", 'p.yaml:1: the policy must be a mapping with the key rules (got ["rules"])'],
    ["rules: []", "p.yaml:1: rules must be a list with at least one rule (got [])"],
    ["rules: {}", "p.yaml:1: rules must be a list with at least one rule (got {})"],
    ["rules:\n  - all", 'p.yaml:2: rules[0] must be a mapping (got "all")'],
    ["rules: [", "p.yaml:1: is not valid YAML or JSON: "],
    [`${withLines({})}rules: []`, "is not valid YAML or JSON: Map keys must be unique"],
    [`${withLines({})}roles: []`, "p.yaml:5: roles is no key of a policy; it has rules"],
  ])("that reads %j is refused", (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });

  it.each<[string, string, string]>([
    ["verb", "[lead]", "rules[0].verb is no key of a policy; it has principals, namespaces, names, verbs"],
    ["verbs", "[]", "p.yaml:4: rules[0].verbs must be a list with at least one entry (got [])"],
    ["verbs", "lead", 'rules[0].verbs must be a list with at least one entry (got "lead")'],
    ["verbs", "[lead, admin]", 'rules[0].verbs[1] must be observe, lead, operate (got "admin")'],
    ["verbs", "[true]", "rules[0].verbs[0] must be observe, lead, operate (got true)"],
    ["principals", "[]", "p.yaml:2: rules[0].principals must be a list with at least one entry (got [])"],
    [
      "principals",
      "[billing]",
      'rules[0].principals[0] must be *, or begin with spiffe:// and have * at its end only (got "billing")',
    ],
    ["principals", '["spiffe://a/*/b"]', "rules[0].principals[0] must be *, or begin with spiffe://"],
    [
      "namespaces",
      '["billing-*"]',
      'rules[0].namespaces[0] must be * or the whole name of a namespace (got "billing-*")',
    ],
    ["namespaces", "[]", "rules[0].namespaces must be a list"],
    ["names", "[]", "rules[0].names must be a list with at least one entry (got [])"],
    ["names", "", "rules[0].names must be a list with at least one entry (got null)"],
    ["names", '["a*b"]', "rules[0].names[0] must be a name of letters, digits and -._: with * at its end only"],
    ["names", '[""]', 'rules[0].names[0] must be a name of letters, digits and -._: with * at its end only (got "")'],
  ])("with %s: %s is refused", (key, value, problem) => {
    expect(problemsOf(withLines({ [key]: value }))).toEqual([expect.stringContaining(problem)]);
  });

  it("names every mistake at once, and a list that is missing", () => {
    expect(problemsOf("rules:\n  - verbs: [x]\n  - names: []\n")).toEqual([
      "p.yaml:2: rules[0].principals must be a list with at least one entry (got null)",
      "p.yaml:2: rules[0].namespaces must be a list with at least one entry (got null)",
      'p.yaml:2: rules[0].verbs[0] must be observe, lead, operate (got "x")',
      "p.yaml:3: rules[1].principals must be a list with at least one entry (got null)",
      "p.yaml:3: rules[1].namespaces must be a list with at least one entry (got null)",
      "p.yaml:3: rules[1].names must be a list with at least one entry (got [])",
      "p.yaml:3: rules[1].verbs must be a list with at least one entry (got null)",
    ]);
  });
});
