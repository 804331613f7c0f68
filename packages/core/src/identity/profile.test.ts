import { describe, expect, it } from "vitest";
import { checkProfile, type IdentityProfile } from "./profile.ts";
import { identityLabels, labelsOf } from "./record.ts";

const limits = { leastBeatIntervalMs: 1_000, mostBeatIntervalMs: 60_000, mostValidityMs: 86_400_000 };
const profile: IdentityProfile = {
  component: "scheduler",
  version: "1.2.3",
  host: "node-1",
  processId: 7,
  zone: "a",
  labels: { tier: "gold" },
  capabilities: ["shard"],
  addresses: ["10.0.0.1:80"],
  dependents: [
    { kind: "lease", lease: "billing/scheduler" },
    { kind: "candidate", lease: "billing/scheduler", candidate: "c1" },
  ],
  naming: "fresh",
  beatIntervalMs: 10_000,
  validityMs: 3_600_000,
};

describe("a profile", () => {
  it("is legal with the defaults", () => expect(checkProfile(profile, limits)).toEqual([]));

  it.each<[string, Partial<IdentityProfile>]>([
    ["profile.component", { component: "" }],
    ["profile.component", { component: "Scheduler" }],
    ["profile.version", { version: "v1" }],
    ["profile.host", { host: "h".repeat(254) }],
    ["profile.labels", { labels: { "-a": "b" } }],
    ["profile.labels", { labels: { a: "b".repeat(200) } }],
    ["profile.capabilities", { capabilities: Array.from({ length: 65 }, () => "x") }],
    ["profile.addresses[0]", { addresses: ["a".repeat(257)] }],
    ["profile.dependents", { dependents: Array.from({ length: 257 }, () => ({ kind: "lease", lease: "a/b" })) }],
    ["profile.dependents[0].namespace", { dependents: [{ kind: "lease", lease: "A/b" }] }],
    ["profile.dependents[0]", { dependents: [{ kind: "candidate", lease: "a/b", candidate: "" }] }],
    ["profile.beat_interval", { beatIntervalMs: 999 }],
    ["profile.beat_interval", { beatIntervalMs: 60_001 }],
    ["profile.validity", { validityMs: 59_999 }],
    ["profile.validity", { validityMs: 86_400_001 }],
  ])("breaks the rule of %s", (field, change) => {
    expect(checkProfile({ ...profile, ...change }, limits)).toMatchObject([{ field }]);
  });

  it("[94] gives its lease the labels of its component and host", () => {
    expect(labelsOf(profile)).toEqual({
      [identityLabels.component]: "scheduler",
      [identityLabels.host]: "node-1",
      tier: "gold",
    });
  });

  it("[100] leaves a host out of the labels that cannot be one, and labels that do not fit", () => {
    const labels = Object.fromEntries(Array.from({ length: 32 }, (_, place) => [`k${place}`, "v"]));
    const made = labelsOf({ ...profile, host: "no label", labels });
    expect(made[identityLabels.host]).toBeUndefined();
    expect(Object.keys(made)).toHaveLength(32);
  });
});
