import { defaultLeaseSpec } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { CandidateSelector } from "../../gen/tenure/v1/candidate.ts";
import { LeaseServiceAcquireRequest, LeaseServiceDeleteRequest } from "../../gen/tenure/v1/lease.ts";
import { LeaseState } from "../../gen/tenure/v1/lease_record.ts";
import { LeaseSelector } from "../../gen/tenure/v1/selector.ts";
import { deleteCommand } from "../command/lease-commands.ts";
import { acquireCommand } from "../command/term-commands.ts";
import { brokenFields, OwnerDesk, valueOfAnswer } from "../testing/owner-desk.ts";
import { candidateSelection, candidateSelections } from "./candidate-selection.ts";
import { leaseSelection, leaseSelections } from "./lease-selection.ts";
import { stateFilter } from "./state-filter.ts";

const record = (key: string, labels = {}) => ({ key, spec: { ...defaultLeaseSpec, labels } });
const leases = [
  record("billing/api", { tier: "gold", zone: "a" }),
  record("billing/api-worker", { tier: "iron" }),
  record("shop/api"),
  record("tenure-system/elector"),
];
const matching = (selector: Parameters<typeof LeaseSelector.create>[0]) =>
  leases.filter(valueOfAnswer(leaseSelection(LeaseSelector.create(selector))).matches).map(({ key }) => key);
const requirement = (operator: number, values: readonly string[] = []) => ({
  requirements: [{ key: "tier", operator: operator as never, values: [...values] }],
});

describe("a selector of leases", () => {
  it.each([
    ["everything outside the system", {}, ["billing/api", "billing/api-worker", "shop/api"]],
    ["the system by its name", { namespace: "tenure-system" }, ["tenure-system/elector"]],
    ["one name", { namespace: "billing", name: "api" }, ["billing/api"]],
    ["names by prefix", { namespace: "billing", namePrefix: "api" }, ["billing/api", "billing/api-worker"]],
    ["labels with one of some values", { labels: requirement(1, ["gold", "lead"]) }, ["billing/api"]],
    ["labels with none of some values", { labels: requirement(2, ["gold"]) }, ["billing/api-worker", "shop/api"]],
    ["labels that exist", { labels: requirement(3) }, ["billing/api", "billing/api-worker"]],
    ["labels that are absent", { labels: requirement(4) }, ["shop/api"]],
  ])("selects %s", (_, selector, wanted) => {
    expect(matching(selector)).toEqual(wanted);
  });

  it("tells when a lookup by name will do", () => {
    const one = LeaseSelector.create({ namespace: "a", name: "b" });
    const two = LeaseSelector.create({ namespace: "a", name: "c" });
    expect(valueOfAnswer(leaseSelections([one, two, one])).names).toEqual(["a/b", "a/c"]);
    expect(valueOfAnswer(leaseSelections([one, LeaseSelector.create()])).names).toBeUndefined();
    expect(leases.filter(valueOfAnswer(leaseSelections([one, LeaseSelector.create()])).matches)).toHaveLength(3);
  });

  it("is refused with every rule that it breaks", () => {
    const labels = {
      requirements: [
        { key: "", operator: 0 as const },
        { key: "a", operator: 3 as const, values: ["x"] },
      ],
    };
    const selector = LeaseSelector.create({ name: "a", namePrefix: "b", labels });
    expect(brokenFields(leaseSelection(selector))).toEqual([
      "selector.namespace",
      "selector.name_prefix",
      "selector.labels.requirements[0].key",
      "selector.labels.requirements[0].values",
      "selector.labels.requirements[0].operator",
      "selector.labels.requirements[1].values",
    ]);
    expect(brokenFields(leaseSelections([]))).toEqual(["selectors"]);
  });
});

describe("a selector of candidates", () => {
  const candidate = { name: "pod-1", spec: { labels: { tier: "gold" } } } as never;

  it("tests the lease, the name and the candidate's own labels", () => {
    const matches = (selector: Parameters<typeof CandidateSelector.create>[0]) =>
      valueOfAnswer(candidateSelection(CandidateSelector.create(selector))).matches(leases[2]!, candidate);
    expect(matches({})).toBe(true);
    expect(matches({ name: "pod-1", labels: requirement(1, ["gold"]) })).toBe(true);
    expect(matches({ name: "pod-2" })).toBe(false);
    expect(matches({ lease: { namespace: "billing" } })).toBe(false);
    const both = [{ name: "pod-2" }, { lease: { namespace: "shop", name: "api" } }].map((one) =>
      CandidateSelector.create(one),
    );
    expect(valueOfAnswer(candidateSelections(both)).matches(leases[2]!, candidate)).toBe(true);
    expect(brokenFields(candidateSelections([]))).toEqual(["selectors"]);
  });
});

describe("a list's states", () => {
  it("are all but tombstones unless they are named, and never what does not exist", () => {
    const desk = new OwnerDesk();
    const lease = { namespace: "billing", name: "api" };
    desk.run(acquireCommand(LeaseServiceAcquireRequest.create({ claims: [{ lease }] }), "alice"));
    const held = desk.view.state.leases.get("billing/api")!;
    expect([stateFilter([]), stateFilter([LeaseState.FREE])].map((filter) => filter(held, desk.now))).toEqual([
      true,
      false,
    ]);
    desk.run(deleteCommand(LeaseServiceDeleteRequest.create({ lease }), "alice"));
    expect([stateFilter([]), stateFilter([LeaseState.TOMBSTONE])].map((filter) => filter(held, desk.now))).toEqual([
      false,
      true,
    ]);
    expect(stateFilter([LeaseState.FREE])(held.copy({ created: undefined }), desk.now)).toBe(false);
  });
});
