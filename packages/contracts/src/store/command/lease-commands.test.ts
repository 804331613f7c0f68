import { defaultLeaseSpec } from "@tenure/core";
import { describe, expect, it } from "vitest";
import {
  LeaseServiceCreateRequest,
  LeaseServiceDeleteRequest,
  LeaseServiceRevokeRequest,
  LeaseServiceStealRequest,
  LeaseServiceUpdateRequest,
} from "../../gen/tenure/v1/lease.ts";
import { brokenFields } from "../testing/owner-desk.ts";
import { createCommand, deleteCommand, revokeCommand, stealCommand, updateCommand } from "./lease-commands.ts";

const lease = { namespace: "billing", name: "scheduler" };
const key = "billing/scheduler";
const second = { seconds: 1n, nanos: 0 };

describe("a create request", () => {
  it("takes the defaults for what it does not say", () => {
    const command = createCommand(LeaseServiceCreateRequest.create({ lease }), "alice");
    expect(command).toEqual({ kind: "create", lease: key, spec: defaultLeaseSpec, principal: "alice" });
    const dry = createCommand(
      LeaseServiceCreateRequest.create({ lease, dryRun: true, spec: { lockDelay: second } }),
      "alice",
    );
    expect(dry).toMatchObject({ isDryRun: true, spec: { ...defaultLeaseSpec, lockDelayMs: 1_000 } });
  });

  it("is refused with the rules of shape and of content together, each field once", () => {
    const request = LeaseServiceCreateRequest.create({
      lease: { namespace: "billing", name: "-" },
      spec: {
        leaseDuration: { seconds: 0n, nanos: 0 },
        lockDelay: { seconds: 1n, nanos: -5 },
        drainBound: { seconds: -1n, nanos: 0 },
        consensusRule: 7 as never,
        labels: { "-bad": "x" },
      },
    });
    expect(brokenFields(createCommand(request, "alice"))).toEqual([
      "lease.name",
      "spec.lock_delay",
      "spec.consensus_rule",
      "spec.labels",
      "spec.lease_duration",
      "spec.drain_bound",
    ]);
  });

  it("of a compatible front carries the hold as it was written", () => {
    const written = {
      holder: "pod-1",
      leaseDuration: { seconds: 15n, nanos: 0 },
      renewedAt: { seconds: 7n, nanos: 5_000 },
    };
    const request = LeaseServiceCreateRequest.create({ lease, writtenHold: { ...written, preferredHolder: "" } });
    expect(createCommand(request, "alice")).toMatchObject({
      written: {
        holder: "pod-1",
        holderKey: "",
        leaseDurationMs: 15_000,
        times: { renewedAtMicros: 7_000_005n },
        strategy: undefined,
        preferredHolder: "",
      },
    });
    const wrong = { renewedAt: { seconds: 0n, nanos: -1 }, strategy: {} };
    expect(
      brokenFields(createCommand(LeaseServiceCreateRequest.create({ lease, writtenHold: wrong }), "alice")),
    ).toEqual(["written_hold.renewed_at", "written_hold.strategy.kind"]);
  });
});

describe("an update request", () => {
  const base = { lease, expectedRevision: 9n };

  it("replaces the whole spec without a mask, only the named fields with one, and nothing without both", () => {
    const spec = { lockDelay: second };
    expect(updateCommand(LeaseServiceUpdateRequest.create({ ...base, spec }), "alice")).toMatchObject({
      expectedRevision: 9n,
      expectedUid: undefined,
      createIfAbsent: false,
      spec: { ...defaultLeaseSpec, lockDelayMs: 1_000 },
    });
    const masked = LeaseServiceUpdateRequest.create({ ...base, spec, updateMask: ["lock_delay", "labels"] });
    expect(updateCommand(masked, "alice")).toMatchObject({ spec: { lockDelayMs: 1_000, labels: {} } });
    expect(Object.keys((updateCommand(masked, "alice") as { spec: object }).spec)).toEqual(["lockDelayMs", "labels"]);
    expect(updateCommand(LeaseServiceUpdateRequest.create(base), "alice")).toMatchObject({ spec: {} });
  });

  it("refuses a mask that names no field of a spec", () => {
    const request = LeaseServiceUpdateRequest.create({ ...base, spec: {}, updateMask: ["spec.labels", "constructor"] });
    expect(brokenFields(updateCommand(request, "alice"))).toEqual(["update_mask.paths", "update_mask.paths"]);
  });

  it("compares a uid only if it is given, and takes a foreign one for a conflict", () => {
    const uid = (expectedUid: string) =>
      updateCommand(LeaseServiceUpdateRequest.create({ ...base, expectedUid }), "alice");
    expect(uid("17")).toMatchObject({ expectedUid: 17 });
    expect(uid("6e2b-uuid")).toMatchObject({ expectedUid: -1 });
  });
});

describe("a request against a running term", () => {
  it("needs a reason and the revision that its caller saw", () => {
    const wanted = ["note.reason", "lease", "expected_revision"];
    expect(brokenFields(revokeCommand(LeaseServiceRevokeRequest.create(), "root"))).toEqual(wanted);
    expect(brokenFields(stealCommand(LeaseServiceStealRequest.create(), "root"))).toEqual(wanted);
  });

  it("says whom it concerns and why", () => {
    const given = { lease, expectedRevision: 9n, note: { reason: "stuck" } };
    expect(revokeCommand(LeaseServiceRevokeRequest.create({ ...given, token: 4n }), "root")).toEqual({
      kind: "revoke",
      lease: key,
      expectedRevision: 9n,
      token: 4n,
      reason: "stuck",
      principal: "root",
    });
    expect(stealCommand(LeaseServiceStealRequest.create({ ...given, sendNumber: 3n }), "root")).toEqual({
      kind: "steal",
      lease: key,
      expectedRevision: 9n,
      claimant: { holder: "root" },
      sendNumber: 3n,
      reason: "stuck",
      principal: "root",
    });
    expect(deleteCommand(LeaseServiceDeleteRequest.create({ lease, expectedUid: "5" }), "root")).toEqual({
      kind: "delete",
      lease: key,
      expectedRevision: undefined,
      expectedUid: 5,
      principal: "root",
    });
  });
});
