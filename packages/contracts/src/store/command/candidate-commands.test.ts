import { defaultValidityMs } from "@tenure/core";
import { describe, expect, it } from "vitest";
import {
  CandidateServiceAckRequest,
  CandidateServiceCordonRequest,
  CandidateServiceRegisterRequest,
  CandidateServiceSetPriorityRequest,
  CandidateServiceUncordonRequest,
  CandidateServiceUpdateRequest,
  CandidateServiceWithdrawRequest,
} from "../../gen/tenure/v1/candidate.ts";
import { brokenFields } from "../testing/owner-desk.ts";
import {
  ackCandidatesCommand,
  cordonCommand,
  registerCandidateCommand,
  setPriorityCommand,
  uncordonCommand,
  updateCandidateCommand,
  withdrawCandidateCommand,
} from "./candidate-commands.ts";

const lease = { namespace: "billing", name: "scheduler" };
const key = "billing/scheduler";
const candidate = { lease, name: "pod-1" };
const second = { seconds: 1n, nanos: 0 };

describe("a candidate's request", () => {
  const spec = { binaryVersion: "1.2.3", compatibilityVersion: "1.2.0", strategy: { kind: 1 as const } };

  it("registers with the defaults of the API, and a priority's own reason", () => {
    const request = CandidateServiceRegisterRequest.create({ candidate, spec, priority: { value: 3, reason: "near" } });
    expect(registerCandidateCommand(request, "alice")).toMatchObject({
      kind: "registerCandidate",
      lease: key,
      candidate: "pod-1",
      spec: { preference: "neutral", isHealthy: true, validityMs: defaultValidityMs },
      priority: { value: 3, expiresAfterMs: undefined },
      reason: "near",
    });
  });

  it("lists every broken rule of a registration at once", () => {
    const request = CandidateServiceRegisterRequest.create({
      candidate: { lease, name: "..x" },
      priority: { value: -1 },
    });
    expect(brokenFields(registerCandidateCommand(request, "alice"))).toEqual([
      "candidate.name",
      "spec",
      "spec.strategy",
      "spec.binary_version",
      "priority.value",
    ]);
  });

  it("updates only what its mask names, and does not ask for the rest", () => {
    const request = CandidateServiceUpdateRequest.create({
      candidate,
      spec: { zone: "b", health: 2 },
      updateMask: ["zone", "health"],
    });
    expect(updateCandidateCommand(request, "alice")).toMatchObject({ spec: { zone: "b", isHealthy: false } });
    const wrong = CandidateServiceUpdateRequest.create({ candidate, spec: {}, updateMask: ["strategy", "name"] });
    expect(brokenFields(updateCandidateCommand(wrong, "alice"))).toEqual(["spec.strategy", "update_mask.paths"]);
    expect(
      brokenFields(updateCandidateCommand(CandidateServiceUpdateRequest.create({ candidate }), "alice")),
    ).toContain("spec");
  });

  it("answers pings, withdraws, and is given or rid of priorities and cordons", () => {
    const ack = CandidateServiceAckRequest.create({ answers: [{ candidate, pingNumber: 4n }] });
    expect(ackCandidatesCommand(ack, "alice")).toEqual({
      kind: "ackCandidates",
      answers: [{ lease: key, candidate: "pod-1", pingNumber: 4n }],
      principal: "alice",
    });
    expect(brokenFields(ackCandidatesCommand(CandidateServiceAckRequest.create(), "alice"))).toEqual(["answers"]);
    const withdraw = CandidateServiceWithdrawRequest.create({ candidate, note: { reason: "bye" } });
    expect(withdrawCandidateCommand(withdraw, "alice")).toMatchObject({ kind: "withdrawCandidate", reason: "bye" });
    const priority = CandidateServiceSetPriorityRequest.create({ candidate, dryRun: true });
    expect(setPriorityCommand(priority, "root")).toMatchObject({ priority: undefined, isDryRun: true });
    const cordon = CandidateServiceCordonRequest.create({ candidate, note: { reason: "drain" }, expiresAfter: second });
    expect(cordonCommand(cordon, "root")).toMatchObject({ cordon: { expiresAfterMs: 1_000 }, reason: "drain" });
    expect(brokenFields(cordonCommand(CandidateServiceCordonRequest.create({ candidate }), "root"))).toEqual([
      "note.reason",
    ]);
    const uncordon = CandidateServiceUncordonRequest.create({ candidate });
    expect(uncordonCommand(uncordon, "root")).toMatchObject({ kind: "setCordon", cordon: undefined });
  });
});
