import { describe, expect, it } from "vitest";
import { Policy, type Rule } from "./policy.ts";
import type { Target, Verb } from "./rights.ts";

const billing = "spiffe://example.org/billing";

function allows(rule: Partial<Rule>, verb: Verb, target: Target, principal = billing): boolean {
  const rules = [{ principals: [billing], namespaces: ["billing"], verbs: ["observe" as const], ...rule }];
  return new Policy(rules).grantsOf(principal).allows(verb, target);
}

const invoices = { namespace: "billing", name: "invoices" };

describe("a policy", () => {
  it("denies what no rule allows", () => {
    expect(new Policy([]).grantsOf(billing).allows("observe", invoices)).toBe(false);
    expect(allows({}, "observe", invoices)).toBe(true);
    expect(allows({}, "lead", invoices)).toBe(false);
    expect(allows({}, "observe", { ...invoices, namespace: "shipping" })).toBe(false);
    expect(allows({}, "observe", invoices, `${billing}/x`)).toBe(false);
  });

  it.each<[string, boolean]>([
    [billing, true],
    [`${billing}-2`, true],
    ["spiffe://example.org/bill", false],
  ])("knows principals by what they begin with: %s", (principal, isAllowed) => {
    expect(allows({ principals: [`${billing}*`] }, "observe", invoices, principal)).toBe(isAllowed);
    expect(allows({ principals: ["*"] }, "observe", invoices, principal)).toBe(true);
  });

  it.each<[Target, readonly string[], boolean]>([
    [{ namespace: "billing", name: "invoices" }, ["invoices"], true],
    [{ namespace: "billing", name: "invoices-2" }, ["invoices"], false],
    [{ namespace: "billing", name: "invoices-2" }, ["invoices*"], true],
    [{ namespace: "billing", name: "inv" }, ["invoices*"], false],
    [{ namespace: "billing", name: "invoices", isPrefix: true }, ["invoices"], false],
    [{ namespace: "billing", name: "invoices-", isPrefix: true }, ["invoices*"], true],
    [{ namespace: "billing", name: "inv", isPrefix: true }, ["invoices*"], false],
    [{ namespace: "billing" }, ["invoices*"], false],
    [{ namespace: "billing" }, ["*"], true],
    [{ namespace: "billing", name: "" }, ["invoices"], false],
  ])("of %j for names %j says %s", (target, names, isAllowed) => {
    expect(allows({ names }, "observe", target)).toBe(isAllowed);
  });

  it.each<[Target, readonly string[], boolean]>([
    [{ namespace: "" }, ["billing"], false],
    [{ namespace: "" }, ["*"], true],
    [{ namespace: "*" }, ["billing"], false],
    [{ namespace: "shipping", name: "x" }, ["*"], true],
  ])("of %j for namespaces %j says %s", (target, namespaces, isAllowed) => {
    expect(allows({ namespaces }, "observe", target)).toBe(isAllowed);
  });

  it("adds the rules of a principal up, and never mixes a verb of one with a name of another", () => {
    const policy = new Policy([
      { principals: [billing], namespaces: ["billing"], names: ["a"], verbs: ["observe"] },
      { principals: ["spiffe://example.org/*"], namespaces: ["billing"], names: ["b"], verbs: ["lead"] },
    ]);
    const grants = policy.grantsOf(billing);
    const may = (verb: Verb, name: string) => grants.allows(verb, { namespace: "billing", name });
    expect([may("observe", "a"), may("lead", "b"), may("observe", "b"), may("lead", "a")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("is made up once for a principal, also with many of them", () => {
    const policy = new Policy([{ principals: ["*"], namespaces: ["*"], verbs: ["observe"] }]);
    const first = policy.grantsOf("p0");
    expect(policy.grantsOf("p0")).toBe(first);
    for (let number = 1; number <= 10_000; number += 1) policy.grantsOf(`p${number}`);
    expect(policy.grantsOf("p0").allows("observe", invoices)).toBe(true);
  });
});
