import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  LeaseServiceAcceptRequest,
  LeaseServiceAcquireRequest,
  LeaseServiceReleaseRequest,
  LeaseServiceRenewRequest,
} from "../../gen/tenure/v1/lease.ts";
import { brokenFields } from "../testing/owner-desk.ts";
import { renewKeyHashOf } from "./claimant.ts";
import { acceptCommand, acquireCommand, releaseCommand, renewCommand } from "./term-commands.ts";

const lease = { namespace: "billing", name: "scheduler" };
const attempt = { clientId: "client-1", number: 4n, settledBelow: 3n };
const secret = new Uint8Array([1, 2, 3]);
const secretHash = createHash("sha256").update(secret).digest("hex");

describe("an acquire request", () => {
  it("becomes a claim by the principal with the defaults of the API", () => {
    const request = LeaseServiceAcquireRequest.create({ claims: [{ lease }], sendNumber: 7n });
    expect(acquireCommand(request, "alice")).toEqual({
      kind: "acquire",
      claims: [{ lease: "billing/scheduler", mode: "exclusive", units: 1 }],
      claimant: { holder: "alice" },
      sendNumber: 7n,
      principal: "alice",
    });
  });

  it("carries everything that it says", () => {
    const request = LeaseServiceAcquireRequest.create({
      attempt,
      claims: [{ lease, mode: 3, units: 2, spec: { mode: 3, capacity: 5, lockDelay: { seconds: 1n, nanos: 0 } } }],
      claimant: {
        holder: "pod-1",
        holderKey: "k",
        renewKeyHash: Buffer.from(secretHash, "hex"),
        identity: "id-1",
        participant: { component: "kcm", version: "1.2.3", configurationDigest: new Uint8Array([0xab]) },
        value: new Uint8Array([9]),
        timing: { leaseDuration: { seconds: 20n, nanos: 0 } },
      },
      wait: {
        timeout: { seconds: 3n, nanos: 0 },
        age: { seconds: 0n, nanos: 5_000_000 },
        beatNumber: 8n,
        supersedesKey: "j",
      },
      sendNumber: 9n,
      fallbackCandidate: "pod-1",
    });
    expect(acquireCommand(request, "alice")).toMatchObject({
      attempt,
      claims: [{ mode: "counted", units: 2, spec: { mode: "counted", capacity: 5, lockDelayMs: 1_000 } }],
      claimant: {
        holder: "pod-1",
        holderKey: "k",
        renewKeyHash: secretHash,
        identity: "id-1",
        participant: { component: "kcm", version: "1.2.3", configurationDigest: "ab" },
        value: new Uint8Array([9]),
        timing: { leaseDurationMs: 20_000, usableTermMs: 11_000, renewIntervalMs: 2_000, requestTimeoutMs: 2_000 },
      },
      wait: { timeoutMs: 3_000, ageMs: 5, beatNumber: 8n, supersedesKey: "j" },
      fallbackCandidate: "pod-1",
    });
  });

  it("is refused with every broken rule at once", () => {
    const request = LeaseServiceAcquireRequest.create({
      attempt: { clientId: "no spaces", number: 0n },
      claims: [{ lease: { namespace: "Upper", name: "" }, mode: 9 as never }, {}],
      claimant: { renewKeyHash: new Uint8Array(31), timing: { usableTerm: { seconds: 1n, nanos: -1 } } },
      wait: { timeout: { seconds: -1n, nanos: 0 } },
      sendNumber: 2n ** 53n,
    });
    expect(brokenFields(acquireCommand(request, "alice"))).toEqual([
      "claims[0].lease.namespace",
      "claims[0].lease.name",
      "claims[0].mode",
      "claims[1].lease",
      "claimant.renew_key_hash",
      "claimant.timing.usable_term",
      "send_number",
      "wait.timeout",
      "attempt.client_id",
      "attempt.number",
    ]);
    expect(brokenFields(acquireCommand(LeaseServiceAcquireRequest.create(), "alice"))).toEqual(["claims"]);
  });

  it("cannot make one name of two", () => {
    const request = LeaseServiceAcquireRequest.create({ claims: [{ lease: { namespace: "a/b", name: "c" } }] });
    expect(brokenFields(acquireCommand(request, "alice"))).toContain("claims[0].lease.namespace");
  });
});

describe("an accept request", () => {
  it("is made by the candidate unless it names a holder", () => {
    const request = LeaseServiceAcceptRequest.create({
      candidate: { lease, name: "pod-1" },
      token: 5n,
      sendNumber: 2n,
    });
    expect(acceptCommand(request, "alice")).toEqual({
      kind: "accept",
      lease: "billing/scheduler",
      candidate: "pod-1",
      token: 5n,
      claimant: { holder: "pod-1" },
      sendNumber: 2n,
      principal: "alice",
    });
    expect(brokenFields(acceptCommand(LeaseServiceAcceptRequest.create(), "alice"))).toEqual(["candidate"]);
  });
});

describe("renewals", () => {
  const renewals = [{ lease, token: 5n, sendNumber: 2n }];

  it("show their secret as its hash", () => {
    const request = LeaseServiceRenewRequest.create({
      renewals: [...renewals, { lease, token: 6n, sendNumber: 3n, leaseDuration: { seconds: 20n, nanos: 0 } }],
      renewKey: secret,
    });
    expect(renewCommand(request, "alice")).toEqual({
      kind: "renew",
      items: [
        { lease: "billing/scheduler", token: 5n, sendNumber: 2n },
        { lease: "billing/scheduler", token: 6n, sendNumber: 3n, leaseDurationMs: 20_000 },
      ],
      renewKeyHash: secretHash,
      principal: "alice",
    });
    expect(renewKeyHashOf(new Uint8Array(0))).toBeUndefined();
  });

  it("are 1 to 1000, each with a lease", () => {
    const many = LeaseServiceRenewRequest.create({ renewals: Array.from({ length: 1_001 }, () => renewals[0]!) });
    expect(brokenFields(renewCommand(many, "alice"))).toEqual(["renewals"]);
    expect(brokenFields(renewCommand(LeaseServiceRenewRequest.create(), "alice"))).toEqual(["renewals"]);
    const nameless = LeaseServiceRenewRequest.create({ renewals: [{ token: 1n }] });
    expect(brokenFields(renewCommand(nameless, "alice"))).toEqual(["renewals[0].lease"]);
  });
});

describe("a release request", () => {
  it("says which terms end and why", () => {
    const request = LeaseServiceReleaseRequest.create({
      attempt,
      items: [{ lease, token: 5n }],
      renewKey: secret,
      endReason: 6,
      note: { reason: "maintenance" },
    });
    expect(releaseCommand(request, "alice")).toEqual({
      kind: "release",
      items: [{ lease: "billing/scheduler", token: 5n }],
      renewKeyHash: secretHash,
      endReason: "steppedDown",
      attempt,
      reason: "maintenance",
      principal: "alice",
    });
  });

  it("takes 1 to 16 terms, only reasons of a holder, and a short note", () => {
    const request = LeaseServiceReleaseRequest.create({ endReason: 2, note: { reason: "x".repeat(513) } });
    expect(brokenFields(releaseCommand(request, "alice"))).toEqual(["items", "end_reason", "note.reason"]);
  });
});
