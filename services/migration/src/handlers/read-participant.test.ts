import { ControllerPlacement, MigrationParticipant } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { configuration, reportOf } from "../testing/log-of-one.ts";
import { readParticipant } from "./read-participant.ts";

const elsewhere = configuration("moves", { route: ["cloud", ""] });
const good = reportOf("kube 1.21.0", ["route", "deployment"], [elsewhere]);
const [route] = good.controllers;
const { MIGRATED, UNOWNED } = ControllerPlacement;

describe("a report", () => {
  it("is taken as it is, with who sent it; what runs elsewhere needs no lock", () => {
    expect(readParticipant({ ...good, principal: "another" }, "ann")).toEqual({ ...good, principal: "ann" });
  });

  it.each<[string, Parameters<typeof MigrationParticipant.fromPartial>[0]]>([
    ["participant.instance", { instance: "" }],
    ["participant.participant.version", { participant: { component: "kube", version: "v1.21" } }],
    ["participant.primary", { primary: undefined }],
    ["participant.configuration_digests", { configurationDigests: [] }],
    ["participant.controllers[0].name", { controllers: [{ name: "Route", placement: UNOWNED }] }],
    ["participant.controllers[0].lease", { controllers: [{ name: "route", placement: MIGRATED }] }],
    ["participant.controllers[0].placement", { controllers: [{ name: "route" }] }],
    ["participant.controllers", { controllers: Array.from({ length: 1_001 }, () => ({ ...route })) }],
  ])("is refused for its %s", (field, broken) => {
    const fault = refusalOf(MigrationParticipant.fromPartial({ ...good, ...broken }));
    expect(fault.details.violations?.[0]?.field).toBe(field);
  });
});

function refusalOf(report: MigrationParticipant): Fault {
  try {
    readParticipant(report, "ann");
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
  }
  throw new Error("it was taken");
}
