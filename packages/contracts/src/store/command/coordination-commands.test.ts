import { describe, expect, it } from "vitest";
import {
  StoreServiceCollectRequest,
  StoreServiceElectRequest,
  StoreServiceMarkEndOfTermRequest,
  StoreServicePingRequest,
  StoreServicePutMigrationRequest,
  StoreServicePutStrategyRequest,
  StoreServiceRecordDecisionRequest,
} from "../../gen/tenure/store/v1/store.ts";
import { Decision } from "../../gen/tenure/v1/decision.ts";
import { MigrationConfiguration } from "../../gen/tenure/v1/migration_record.ts";
import { brokenFields } from "../testing/owner-desk.ts";
import {
  collectCommand,
  electCommand,
  markEndOfTermCommand,
  pingCommand,
  putMigrationCommand,
  putStrategyCommand,
  recordDecisionCommand,
} from "./coordination-commands.ts";

const lease = { namespace: "billing", name: "scheduler" };
const key = "billing/scheduler";
const candidate = { lease, name: "pod-1" };
const second = { seconds: 1n, nanos: 0 };

describe("a coordinator's request", () => {
  const decision = Decision.create({ id: "d-1", lease, reason: "oldest" });

  it("asks, chooses, marks and clears", () => {
    const ping = StoreServicePingRequest.create({ lease, candidates: ["pod-1"], coordinator: "c-1" });
    expect(pingCommand(ping, "election")).toMatchObject({ kind: "pingCandidates", candidates: ["pod-1"] });
    const elect = StoreServiceElectRequest.create({
      lease,
      expectedRevision: 8n,
      candidate: "pod-1",
      coordinator: "c-1",
      decision,
      strategy: { strategy: { kind: 5 } },
      acceptWindow: second,
    });
    expect(electCommand(elect, "election")).toMatchObject({
      decision: { id: "d-1", body: Decision.encode(decision).finish() },
      strategy: { kind: "noCoordination" },
      acceptWindowMs: 1_000,
      reason: "oldest",
    });
    const mark = { preferredHolder: "pod-2", token: 4n, drainBound: second, reason: "better" };
    const marking = StoreServiceMarkEndOfTermRequest.create({
      lease,
      expectedRevision: 8n,
      endOfTerm: mark,
      coolDown: second,
    });
    expect(markEndOfTermCommand(marking, "election")).toEqual({
      kind: "markEndOfTerm",
      lease: key,
      expectedRevision: 8n,
      token: 4n,
      preferredHolder: "pod-2",
      drainBoundMs: 1_000,
      coolDownMs: 1_000,
      reason: "better",
      principal: "election",
    });
    const clearing = StoreServiceMarkEndOfTermRequest.create({ lease, expectedRevision: 8n });
    expect(markEndOfTermCommand(clearing, "election")).toMatchObject({ kind: "clearEndOfTerm" });
  });

  it("writes strategies and decisions, and names what is missing in them", () => {
    const put = StoreServicePutStrategyRequest.create({ lease, strategy: { strategy: { kind: 3 }, source: 1 } });
    expect(putStrategyCommand(put, "root")).toMatchObject({
      strategy: { strategy: { kind: "priority" }, source: "operator" },
    });
    const wrong = StoreServicePutStrategyRequest.create({ lease, strategy: { strategy: { kind: 6 } } });
    expect(brokenFields(putStrategyCommand(wrong, "root"))).toEqual(["strategy.strategy.vendor", "strategy.source"]);
    const record = StoreServiceRecordDecisionRequest.create({ decision });
    expect(recordDecisionCommand(record, "election")).toMatchObject({ kind: "recordDecision", lease: key, id: "d-1" });
    expect(brokenFields(recordDecisionCommand(StoreServiceRecordDecisionRequest.create(), "election"))).toEqual([
      "decision",
    ]);
  });

  it("puts a migration in force under the caller's name", () => {
    const request = StoreServicePutMigrationRequest.create({
      lock: lease,
      configuration: { name: "m", author: "forged", revision: 77n },
      eligibility: { configuration: "m", configurationDigest: new Uint8Array([1]), components: [{ name: "*" }] },
      unlessHeld: true,
    });
    const command = putMigrationCommand(request, "migration");
    expect(command).toMatchObject({ eligibility: { configurationDigest: "01" }, isUnlessHeld: true });
    expect(command).toMatchObject({ expectedRevision: undefined });
    const bytes = (command as { configuration: Uint8Array }).configuration;
    expect(MigrationConfiguration.decode(bytes)).toMatchObject({ name: "m", author: "migration", revision: 0n });
  });

  it("collects a lease or a candidate, and must say which", () => {
    const judged = { expectedRevision: 1n, expectedRenewalRevision: 2n, grace: second, dependent: true };
    const dead = StoreServiceCollectRequest.create({ ...judged, subject: { $case: "lease", value: lease } });
    expect(collectCommand(dead, "identity")).toMatchObject({ kind: "collectLease", lease: key, graceMs: 1_000 });
    const gone = StoreServiceCollectRequest.create({ ...judged, subject: { $case: "candidate", value: candidate } });
    expect(collectCommand(gone, "identity")).toMatchObject({
      kind: "collectCandidate",
      candidate: "pod-1",
      isDependent: true,
    });
    expect(brokenFields(collectCommand(StoreServiceCollectRequest.create(judged), "identity"))).toEqual(["subject"]);
  });
});
