import { describe, expect, it } from "vitest";
import { CandidateServiceRegisterRequest, CandidateServiceUpdateRequest } from "../../gen/tenure/v1/candidate.ts";
import { GuardServiceGetRequest, GuardServiceListRequest } from "../../gen/tenure/v1/guard.ts";
import {
  LeaseServiceAcquireRequest,
  LeaseServiceCreateRequest,
  LeaseServiceGetRequest,
  LeaseServiceRenewRequest,
} from "../../gen/tenure/v1/lease.ts";
import { LeaseSelector } from "../../gen/tenure/v1/selector.ts";
import { candidateSelection } from "../select/candidate-selection.ts";
import { leaseSelection } from "../select/lease-selection.ts";
import { brokenFields } from "../testing/owner-desk.ts";
import { registerCandidateCommand, updateCandidateCommand } from "./candidate-commands.ts";
import { createCommand } from "./lease-commands.ts";
import { leaseOfGuardedKey, leaseOfGuardedKeys, leaseOfRequest } from "./request-key.ts";
import { acquireCommand, renewCommand } from "./term-commands.ts";

const lease = { namespace: "billing", name: "scheduler" };
const long = "x".repeat(254);
const negative = { seconds: -1n, nanos: 0 };
const participant = { component: "a.>", version: "v1", configurationDigest: new Uint8Array(65) };
const brokenParticipant = (field: string) => [
  `${field}.participant.component`,
  `${field}.participant.version`,
  `${field}.participant.configuration_digest`,
];
const brokenTiming = (field: string) => [`${field}.timing.lease_duration`, `${field}.timing.request_timeout`];
const timing = { leaseDuration: negative, requestTimeout: { seconds: 0n, nanos: 0 } };

describe("a claim", () => {
  it("names no holder, identity or component that a record cannot keep", () => {
    const claimant = { holder: long, holderKey: long, identity: "a/*", participant, timing };
    const request = LeaseServiceAcquireRequest.create({ claims: [{ lease }], claimant });
    expect(brokenFields(acquireCommand(request, "alice"))).toEqual([
      "claimant.holder",
      "claimant.holder_key",
      "claimant.identity",
      ...brokenParticipant("claimant"),
      ...brokenTiming("claimant"),
    ]);
  });

  it("counts the bytes of a holder, not its characters", () => {
    const claimOf = (holder: string) =>
      acquireCommand(LeaseServiceAcquireRequest.create({ claims: [{ lease }], claimant: { holder } }), "alice");
    expect(claimOf("é".repeat(126))).toMatchObject({ kind: "acquire" });
    expect(brokenFields(claimOf("é".repeat(127)))).toEqual(["claimant.holder"]);
  });

  it("is told which of its claims has a spec that is broken, and of illegal names of others", () => {
    const request = LeaseServiceAcquireRequest.create({
      claims: [{ lease }, { lease, spec: { lockDelay: negative, labels: { "*": "v" } } }],
      wait: { supersedesKey: long },
      fallbackCandidate: "a>",
    });
    expect(brokenFields(acquireCommand(request, "alice"))).toEqual([
      "claims[1].spec.labels",
      "claims[1].spec.lock_delay",
      "wait.supersedes_key",
      "fallback_candidate",
    ]);
  });
});

it("a renewal's new duration is one", () => {
  const request = LeaseServiceRenewRequest.create({ renewals: [{ lease, token: 1n, leaseDuration: negative }] });
  expect(brokenFields(renewCommand(request, "alice"))).toEqual(["renewals[0].lease_duration"]);
});

it("a written hold has names that a record can keep and a duration that is one", () => {
  const writtenHold = { holder: long, holderKey: long, preferredHolder: long, leaseDuration: negative };
  expect(brokenFields(createCommand(LeaseServiceCreateRequest.create({ lease, writtenHold }), "alice"))).toEqual([
    "written_hold.holder",
    "written_hold.holder_key",
    "written_hold.preferred_holder",
    "written_hold.lease_duration",
  ]);
});

describe("a candidate", () => {
  const candidate = { lease, name: "c" };
  const spec = { binaryVersion: "1.0.0", strategy: { kind: 5 as const }, identity: "a/*", participant, timing };
  const broken = ["spec.identity", ...brokenParticipant("spec"), ...brokenTiming("spec")];

  it("names no identity or component that others could not look up", () => {
    const priority = { value: 1, reason: "x".repeat(513) };
    const request = CandidateServiceRegisterRequest.create({ candidate, spec, priority });
    expect(brokenFields(registerCandidateCommand(request, "alice"))).toEqual([...broken, "priority.reason"]);
  });

  it("is judged by the same rules in an update, as far as the mask names the fields", () => {
    const update = (updateMask: string[]) =>
      brokenFields(
        updateCandidateCommand(CandidateServiceUpdateRequest.create({ candidate, spec, updateMask }), "alice"),
      );
    expect(update([])).toEqual(broken);
    expect(update(["participant"])).toEqual(brokenParticipant("spec"));
  });
});

describe("a read", () => {
  const read = { consistency: 99 as never, minRevision: 0n };

  it("of a freshness that is not known is refused rather than answered with less", () => {
    const request = LeaseServiceGetRequest.create({ lease, read });
    expect(brokenFields(leaseOfRequest(request))).toEqual(["read.consistency"]);
    expect(brokenFields(leaseSelection(undefined, { read, states: [99 as never] }))).toEqual([
      "read.consistency",
      "states[0]",
    ]);
    expect(brokenFields(candidateSelection(undefined, { read }))).toEqual(["read.consistency"]);
  });

  it("of guarded data names keys that can exist", () => {
    const get = GuardServiceGetRequest.create({ lease, key: "a b" });
    expect(brokenFields(leaseOfGuardedKey(get))).toEqual(["key"]);
    const list = GuardServiceListRequest.create({ lease, keyPrefix: "*" });
    expect(brokenFields(leaseOfGuardedKeys(list))).toEqual(["key_prefix"]);
    expect(leaseOfGuardedKeys(GuardServiceListRequest.create({ lease }))).toBe("billing/scheduler");
  });

  it("of many records selects by names and labels that can exist", () => {
    const requirements = [
      { key: "*", operator: 3 as const },
      { key: "k", operator: 1 as const, values: ["ok", "x".repeat(129)] },
    ];
    const selector = LeaseSelector.create({ namespace: "a.*", namePrefix: "b.>", labels: { requirements } });
    expect(brokenFields(leaseSelection(selector))).toEqual([
      "selector.namespace",
      "selector.name_prefix",
      "selector.labels.requirements[0].key",
      "selector.labels.requirements[1].values[1]",
    ]);
    const named = LeaseSelector.create({ namespace: "a", name: "b.>" });
    expect(brokenFields(leaseSelection(named))).toEqual(["selector.name"]);
    expect(brokenFields(candidateSelection({ lease: undefined, labels: undefined, name: ">" }))).toEqual([
      "selector.name",
    ]);
  });
});
