import type { Command } from "../partition/command.ts";
import type { PartitionState } from "../partition/state.ts";
import { shownRevisionOf } from "../record/lease.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { candidateSpec } from "./candidates.ts";

/** The names that random histories play with: few, so that they meet often. */
export const clients = ["a", "b", "c"] as const;
export const leases = ["ns/x", "ns/acct:1", "ns/acct:2"] as const;

/** One random step, made into a command when it is its turn, because it looks at the state that it meets. */
export interface Action {
  readonly kind: string;
  readonly client: string;
  /** Acts as whoever holds the lease or was chosen for it, so that commands often find what they are about. */
  readonly isHolder: boolean;
  readonly lease: string;
  /** Which of the tokens around the newest one is used. */
  readonly tokenOffset: bigint;
  readonly attempt: bigint | undefined;
  readonly mode: "exclusive" | "shared";
  readonly isWaiting: boolean;
  readonly lockDelayMs: number;
}

/** What a step may do; some more often than others. */
export const actionKinds = [
  ...Array<"acquire">(6).fill("acquire"),
  ...Array<"renew">(4).fill("renew"),
  "acquireBoth",
  "acquireBoth",
  "release",
  "release",
  "create",
  "update",
  "delete",
  "write",
  "revoke",
  "steal",
  "register",
  "withdraw",
  "elect",
  "elect",
  "accept",
  "accept",
  "mark",
  "clear",
  "guard",
  "guard",
  "expire",
  "collect",
  "forget",
] as const;

/** The command of a step. */
export function commandOf(step: Action, state: PartitionState): Command {
  const { attempt, lease } = step;
  const holder = state.leases.get(lease)?.holds[0]?.holder ?? state.leases.get(lease)?.pending?.candidate;
  const client = step.isHolder ? (holder ?? step.client) : step.client;
  const header = {
    principal: client,
    ...(attempt === undefined ? undefined : { attempt: { clientId: client, number: attempt, settledBelow: 0n } }),
  };
  const record = state.leases.get(lease);
  const token = (record?.lastToken ?? 0n) + step.tokenOffset;
  const exists = record?.created !== undefined && record.deletion === undefined;
  const expectedRevision = exists ? record.revision.sequence : 0n;
  const claimant = { holder: client };
  const spec = { ...defaultLeaseSpec, lockDelayMs: step.lockDelayMs, fallbackDelayMs: 1_500 };
  const claim = { lease, mode: step.mode, units: 1, spec } as const;
  switch (step.kind) {
    case "acquire": {
      const isWaiting = step.isWaiting && attempt !== undefined;
      const wait = { timeoutMs: undefined, ageMs: 0, beatNumber: 0n };
      return { kind: "acquire", claims: [claim], claimant, sendNumber: 1n, ...header, ...(isWaiting && { wait }) };
    }
    case "acquireBoth": {
      const claims = leases.slice(1).map((name) => ({ ...claim, lease: name }));
      return { kind: "acquire", claims, claimant, sendNumber: 1n, ...header };
    }
    case "renew":
      return { kind: "renew", items: [{ lease, token, sendNumber: 2n }], ...header };
    case "release":
      return { kind: "release", items: [{ lease, token }], ...header };
    case "create":
      return { kind: "create", lease, spec, ...header };
    case "update":
      return {
        kind: "update",
        lease,
        expectedRevision,
        expectedUid: undefined,
        spec,
        createIfAbsent: false,
        ...header,
      };
    case "write": {
      const shown = exists ? shownRevisionOf(record) : undefined;
      const times = {};
      const written = {
        holder: client,
        holderKey: "",
        leaseDurationMs: 15_000,
        times,
        strategy: undefined,
        preferredHolder: undefined,
      };
      const body = { kind: "update", lease, expectedUid: undefined, spec: {}, createIfAbsent: true, written } as const;
      return { ...body, expectedRevision: shown, ...header };
    }
    case "delete":
      return { kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined, ...header };
    case "revoke":
      return { kind: "revoke", lease, expectedRevision, token: 0n, ...header };
    case "steal":
      return { kind: "steal", lease, expectedRevision, claimant, sendNumber: 1n, ...header };
    case "register":
      return { kind: "registerCandidate", lease, candidate: client, spec: candidateSpec(), ...header };
    case "withdraw":
      return { kind: "withdrawCandidate", lease, candidate: client, expectedRevision: undefined, ...header };
    case "elect":
      return { kind: "elect", lease, expectedRevision, candidate: client, coordinator: "co", ...header };
    case "accept":
      return { kind: "accept", lease, candidate: client, token, claimant, sendNumber: 1n, ...header };
    case "mark":
      return {
        kind: "markEndOfTerm",
        lease,
        expectedRevision,
        token,
        preferredHolder: "b",
        drainBoundMs: 3_000,
        ...header,
      };
    case "clear":
      return { kind: "clearEndOfTerm", lease, expectedRevision, ...header };
    case "guard":
      return {
        kind: "guard",
        lease,
        token,
        comparisons: [],
        changes: [{ key: "k", value: new Uint8Array([1]) }],
        ...header,
      };
    case "collect": {
      const body = { kind: "collectLease", lease, expectedRevision, expectedRenewalRevision: 0n } as const;
      return { ...body, graceMs: 0, isDependent: step.isWaiting, ...header };
    }
    case "forget":
      return { kind: "removeTombstones", leases: [lease], principal: "owner" };
    default:
      return { kind: "expire", lease, principal: "owner" };
  }
}
