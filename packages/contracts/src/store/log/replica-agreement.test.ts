import { type Command, defaultLeaseSpec, emptyPartition, followBatch, loadSnapshot, takeSnapshot } from "@tenure/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeSnapshot } from "../snapshot/decode-snapshot.ts";
import { encodeSnapshot } from "../snapshot/encode-snapshot.ts";
import { OwnerDesk } from "../testing/owner-desk.ts";
import { decodeBatch } from "./batch-codec.ts";

const origin = { incarnationId: "incarnation-1", writer: "store-1", wallMs: 1, previous: undefined };
const leases = ["a/x", "a/y:1"] as const;
const people = ["ann", "bob"] as const;

/** One step of a small world; which commands succeed depends on what came before. */
const step = fc.record({
  what: fc.constantFrom(
    "acquire",
    "renew",
    "release",
    "create",
    "update",
    "delete",
    "register",
    "ping",
    "ack",
    "elect",
    "accept",
    "mark",
    "guard",
    "revoke",
    "expire",
    "decide",
    "migrate",
    "wait",
  ),
  lease: fc.constantFrom(...leases),
  who: fc.constantFrom(...people),
  // Clocks have fractions.
  passesMs: fc.constantFrom(0, 0.123_456_7, 999.9, 7_000.25, 16_000),
});

function commandOf(
  desk: OwnerDesk,
  { lease, what, who }: { lease: string; what: string; who: string },
  number: number,
): Command {
  const record = desk.view.state.leases.get(lease);
  const revision = record?.revision.sequence ?? 0n;
  const token = record?.holds[0]?.token ?? 0n;
  const header = {
    principal: who,
    reason: number % 3 === 0 ? "why" : "",
    attempt: { clientId: who, number: BigInt(number), settledBelow: 0n },
  };
  const claimant = {
    holder: who,
    ...(number % 2 === 0 ? { value: new Uint8Array([number]), identity: "i" } : undefined),
  };
  const bytes = new Uint8Array([1, 2, number]);
  switch (what) {
    case "acquire":
    case "wait": {
      const wait = { timeoutMs: undefined, ageMs: 0, beatNumber: 0n };
      const claims = [{ lease, mode: "exclusive", units: 1 }] as const;
      return {
        kind: "acquire",
        claims,
        claimant,
        sendNumber: BigInt(number),
        ...header,
        ...(what === "wait" ? { wait } : undefined),
      };
    }
    case "renew":
      return {
        kind: "renew",
        items: [
          { lease, token, sendNumber: BigInt(number), ...(number % 2 === 0 ? { leaseDurationMs: 20_000 } : undefined) },
        ],
        principal: who,
      };
    case "release":
      return { kind: "release", items: [{ lease, token }], ...header };
    case "create":
      return { kind: "create", lease, spec: { ...defaultLeaseSpec, ...specOf(number) }, ...header };
    case "update":
      return {
        kind: "update",
        lease,
        expectedRevision: revision,
        expectedUid: undefined,
        spec: { lockDelayMs: number },
        createIfAbsent: true,
        ...header,
      };
    case "delete":
      return { kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined, ...header };
    case "register":
      return { kind: "registerCandidate", lease, candidate: who, spec: candidateSpec, ...header };
    case "ping":
      return { kind: "pingCandidates", lease, candidates: [...people], coordinator: "c", ...header };
    case "ack":
      return { kind: "ackCandidates", answers: [{ lease, candidate: who, pingNumber: 1n }], principal: who };
    case "elect":
      return { kind: "elect", lease, expectedRevision: revision, candidate: who, coordinator: "c", ...header };
    case "accept":
      return {
        kind: "accept",
        lease,
        candidate: who,
        token: record?.pending?.token ?? 0n,
        claimant,
        sendNumber: 1n,
        ...header,
      };
    case "mark":
      return { kind: "markEndOfTerm", lease, expectedRevision: revision, token, preferredHolder: "carl", ...header };
    case "guard":
      return {
        kind: "guard",
        lease,
        token,
        comparisons: [],
        changes: [{ key: `k${number % 2}`, value: bytes }],
        ...header,
      };
    case "revoke":
      return { kind: "revoke", lease, expectedRevision: revision, token: 0n, ...header };
    case "decide":
      return { kind: "recordDecision", lease, id: `d${number}`, body: bytes, ...header };
    case "migrate":
      return {
        kind: "putMigration",
        lease,
        expectedRevision: undefined,
        configuration: bytes,
        eligibility: undefined,
        ...header,
      };
    default:
      return { kind: "expire", lease, principal: "" };
  }
}

function specOf(number: number) {
  return { leaseDurationMs: 15_000 + number, labels: { tier: "gold", area: `a${number % 2}` } };
}

const strategy = { kind: "noCoordination", expression: "", vendor: "" } as const;
const candidateSpec = {
  binaryVersion: "1.2.3",
  compatibilityVersion: "1.2.0",
  strategy,
  labels: { b: "2", a: "1" },
  zone: "",
  preference: "neutral",
  isHealthy: true,
  healthNote: "",
  validityMs: 60_000,
  identity: "",
} as const;

describe("a replica that reads the log", () => {
  it("comes to the same snapshot as the owner that wrote it, and so does one that starts from a snapshot", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 80, size: "max" }), fc.nat({ max: 40 }), (steps, cut) => {
        const desk = new OwnerDesk();
        desk.run({ kind: "create", lease: "a/x", spec: defaultLeaseSpec, principal: "ann" });
        steps.forEach((given, index) => {
          desk.now += given.passesMs;
          desk.wallMs += Math.round(given.passesMs);
          desk.run(commandOf(desk, given, index + 1));
        });
        let follower = emptyPartition(3, 0);
        desk.payloads.forEach(({ payload, sequence }, index) => {
          expect(followBatch(follower, decodeBatch(sequence, payload), 5)).toEqual({ kind: "applied" });
          if (index === cut)
            follower = loadSnapshot(decodeSnapshot(encodeSnapshot(takeSnapshot(follower), origin)).snapshot, 9);
        });
        const owners = encodeSnapshot(takeSnapshot(desk.view.state), origin);
        expect(Buffer.compare(encodeSnapshot(takeSnapshot(follower), origin), owners)).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
