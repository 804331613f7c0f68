import { describe, expect, it } from "vitest";
import type { CommandOf } from "../partition/command.ts";
import { register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";

const lease = "kube-system/cloud-migration";
const eligibility = {
  configuration: "cloud-migration",
  configurationDigest: "d1",
  components: [
    { name: "kube-controller-manager", versionRange: ">=1.21.0 <1.23.0" },
    { name: "cloud-controller-manager", versionRange: "" },
  ],
};
const configuration = new Uint8Array([1, 2]);

function put(desk: Desk, more: Partial<CommandOf<"putMigration">> = {}) {
  return desk.run(
    { kind: "putMigration", lease, expectedRevision: undefined, configuration, eligibility, ...more },
    "migration",
  );
}

const participant = (component: string, version: string, configurationDigest = "d1") => ({
  component,
  version,
  configurationDigest,
});

describe("migration locks (rule 24)", () => {
  it.each([
    [undefined, "notEligible"],
    [participant("", "1.22.0"), "notEligible"],
    [participant("other", "1.22.0"), "notEligible"],
    [participant("kube-controller-manager", "1.20.9"), "notEligible"],
    [participant("kube-controller-manager", "1.21.0"), "granted"],
    [participant("kube-controller-manager", "1.22.99"), "granted"],
    [participant("kube-controller-manager", "1.23.0"), "notEligible"],
    [participant("kube-controller-manager", "junk"), "notEligible"],
    [participant("cloud-controller-manager", ""), "granted"],
    [participant("cloud-controller-manager", "1.22.0", "d2"), "configurationDisagrees"],
  ])("a claim by %j is %s", (claimed, kind) => {
    const desk = new Desk();
    put(desk);
    const claimant = { holder: "a", ...(claimed && { participant: claimed }) };
    expect(desk.try("a", lease, { claimant }).kind).toBe(kind);
  });

  it("bind an election and its accept as well", () => {
    const desk = new Desk();
    register(desk, lease, "old", { participant: participant("other", "1.22.0") });
    register(desk, lease, "new", { participant: participant("cloud-controller-manager", "1.22.0") });
    put(desk);
    const elect = (candidate: string) => {
      const expectedRevision = desk.record(lease).revision.sequence;
      return desk.run({ kind: "elect", lease, expectedRevision, candidate, coordinator: "co" }, "co");
    };
    expect(elect("old").kind).toBe("notEligible");
    expect(elect("new").kind).toBe("changed");
    put(desk, { eligibility: { ...eligibility, configurationDigest: "d2" } });
    const token = desk.record(lease).lastToken;
    const accept = { kind: "accept", lease, candidate: "new", token, sendNumber: 1n } as const;
    expect(desk.run({ ...accept, claimant: { holder: "new" } }, "new").kind).toBe("configurationDisagrees");
    const agreeing = { holder: "new", participant: participant("cloud-controller-manager", "1.22.0", "d2") };
    expect(desk.run({ ...accept, claimant: agreeing }, "new").kind).toBe("granted");
  });

  it("let any component that takes part in by '*', and nobody by an empty list", () => {
    const desk = new Desk();
    const claimant = { holder: "a", participant: participant("anything", "0.1.0") };
    put(desk, { eligibility: { ...eligibility, components: [] } });
    expect(desk.try("a", lease, { claimant }).kind).toBe("notEligible");
    put(desk, { eligibility: { ...eligibility, components: [{ name: "*", versionRange: "" }] } });
    expect(desk.try("b", lease).kind).toBe("notEligible");
    expect(desk.try("a", lease, { claimant }).kind).toBe("granted");
  });

  it("are not opened by deleting the lease: eligibility outlives it until it is taken away", () => {
    const desk = new Desk();
    put(desk);
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    desk.run({ kind: "removeTombstones", leases: [lease] }, "owner");
    expect(desk.try("a", lease).kind).toBe("notEligible");
    put(desk, { configuration: undefined, eligibility: undefined });
    expect(desk.record(lease).migration).toBeUndefined();
    expect(desk.try("a", lease).kind).toBe("granted");
  });

  it("compare the configuration's own revision", () => {
    const desk = new Desk();
    expect(put(desk, { expectedRevision: 7n })).toMatchObject({ kind: "revisionConflict", revision: 0n });
    expect(put(desk, { expectedRevision: 0n }).kind).toBe("changed");
    const revision = desk.sequence;
    expect(desk.record(lease).migration).toMatchObject({ configuration, revision: { sequence: revision } });
    expect(put(desk, { expectedRevision: 0n })).toMatchObject({ kind: "revisionConflict", revision });
    desk.take("c", lease, { claimant: { holder: "c", participant: participant("cloud-controller-manager", "") } });
    expect(put(desk, { expectedRevision: revision }).kind).toBe("changed");
  });

  it("keep their set of controllers while they are held", () => {
    const desk = new Desk();
    expect(put(desk, { isUnlessHeld: true }).kind).toBe("changed");
    desk.take("c", lease, { claimant: { holder: "c", participant: participant("cloud-controller-manager", "") } });
    const other = { ...eligibility, configurationDigest: "d2" };
    const refused = put(desk, { isUnlessHeld: true, eligibility: other });
    expect(refused).toMatchObject({ kind: "immutable", field: "controller_leaders" });
    expect(put(desk, { isUnlessHeld: true }).kind, "what the holder runs with").toBe("changed");
    expect(put(desk, { eligibility: other }).kind).toBe("changed");
  });

  it("refuse malformed ranges, huge configurations and illegal names", () => {
    const desk = new Desk();
    const components = [
      { name: "x", versionRange: ">=1.2" },
      { name: "", versionRange: "" },
    ];
    const reply = put(desk, { eligibility: { ...eligibility, components } });
    expect(reply.kind === "invalid" && reply.violations).toHaveLength(2);
    expect(put(desk, { configuration: new Uint8Array(262_145) })).toMatchObject({
      kind: "limitExceeded",
      limit: "migrationBytes",
    });
    expect(put(desk, { lease: "kube-system/No" }).kind).toBe("invalid");
  });
});
