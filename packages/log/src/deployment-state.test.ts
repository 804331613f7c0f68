import { describe, expect, it } from "vitest";
import { deploymentState, partialFault, type StreamsByRole } from "./deployment-state.ts";
import type { Incarnation, IncarnationReading } from "./incarnation.ts";
import type { StreamFacts } from "./stream-facts.ts";
import type { StreamRole } from "./streams.ts";

const incarnation = { id: "a" } as Incarnation;
const present: IncarnationReading = { kind: "present", incarnation };
const recordMissing: IncarnationReading = { kind: "record-missing" };
const nothing: IncarnationReading = { kind: "nothing" };

function streams(roles: readonly StreamRole[], incarnationId = "a"): StreamsByRole {
  return Object.fromEntries(roles.map((role) => [role, { incarnationId } as StreamFacts]));
}

describe("deploymentState", () => {
  it.each([
    ["absent", streams([]), nothing],
    ["whole", streams(["log", "snapshots", "audit", "incarnation", "probe"]), present],
    ["whole", streams(["log", "snapshots", "audit", "incarnation"]), present],
    ["being-made", streams(["incarnation"]), recordMissing],
    ["being-made", streams(["incarnation", "log"]), recordMissing],
    ["being-made", streams(["incarnation"]), nothing],
    ["partial", streams(["log"]), { kind: "stream-missing" }],
    ["partial", streams(["audit"]), nothing],
    ["partial", streams(["probe"]), nothing],
    ["partial", streams(["snapshots", "audit", "incarnation", "probe"]), { kind: "log-missing", incarnation }],
    ["partial", streams(["log", "snapshots", "incarnation", "probe"]), present],
    ["partial", { ...streams(["incarnation"]), ...streams(["log"], "b") }, recordMissing],
    ["partial", { incarnation: {} as StreamFacts }, recordMissing],
  ] as const)("is %s for %j", (state, found, reading) => {
    expect(deploymentState(found, reading)).toBe(state);
  });
});

describe("partialFault", () => {
  it("names what is there and what is missing, the record included", () => {
    const fault = partialFault(streams(["log", "probe"]), { kind: "stream-missing" });
    expect(fault).toMatchObject({ code: "FAILED_PRECONDITION", reason: "PARTIALLY_INITIALIZED" });
    expect(fault.details.attributes).toEqual({
      present: "TENURE_LOG,TENURE_PROBE",
      missing: "OBJ_TENURE_SNAPSHOTS,TENURE_AUDIT,TENURE_INCARNATION,the incarnation record",
    });
  });

  it("counts a record whose log is missing as there", () => {
    const fault = partialFault(streams(["incarnation", "audit", "snapshots"]), { kind: "log-missing", incarnation });
    expect(fault.details.attributes?.missing).toBe("TENURE_LOG");
  });
});
