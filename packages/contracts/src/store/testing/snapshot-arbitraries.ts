import type { PartitionSnapshot, StoredCandidate, StoredClient, StoredHold, StoredLease } from "@tenure/core";
import fc from "fast-check";
import {
  bytes,
  candidateSpec,
  client,
  cordon,
  digest32,
  durationMs,
  eligibility,
  endOfTerm,
  holdFacts,
  id,
  lease,
  leaseSpec,
  outcomeFacts,
  participant,
  pendingHold,
  priority,
  settings,
  snapshotReference,
  strategyConflict,
  strategySetting,
  text,
  wide,
  word,
} from "./arbitraries.ts";

const batchId = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((id) => Buffer.from(id).toString("hex"));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const place = fc.integer({ min: 0, max: 2 ** 32 - 2 });
const many = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 3 });

function at<T extends object, K extends string>(arbitrary: fc.Arbitrary<T>, key: K) {
  return fc.tuple(arbitrary, place).map(([value, where]) => ({ ...value, [key]: where }) as T & Record<K, number>);
}

const hold: fc.Arbitrary<StoredHold> = fc
  .record({
    facts: holdFacts,
    granted: place,
    renewal: place,
    revocation: optional(
      fc.record({ endReason: fc.constantFrom("revoked" as const, "collected" as const), author: text, reason: text }),
    ),
  })
  .map(({ facts, ...more }) => ({ ...facts, ...more }));

const candidate: fc.Arbitrary<StoredCandidate> = fc.record({
  name: word,
  uid: id,
  principal: text,
  registered: place,
  revision: place,
  renewal: place,
  spec: candidateSpec,
  priority: optional(at(priority, "set")),
  cordon: optional(at(cordon, "set")),
  ping: optional(fc.record({ number: wide, answeredNumber: wide, pinged: place, answered: optional(place) })),
  coolDown: optional(fc.record({ from: place, coolDownMs: durationMs })),
  missedAccepts: digest32,
});

const details = fc
  .record({ heldForMs: durationMs, successor: word, reason: word, decisionId: word, participant }, { requiredKeys: [] })
  .map((given) => (Object.keys(given).length > 0 ? given : undefined));

const endCauses = ["released", "expired", "steppedDown", "stolen", "written", "collected"] as const;
const grantCauses = ["acquired", "elected", "fallback", "written", "stolen"] as const;
const otherKinds = [
  "created",
  "elected",
  "ended",
  "endOfTermMarked",
  "endOfTermCleared",
  "updated",
  "deleted",
] as const;
const moreKinds = ["strategyChanged", "eligibilityChanged", "restored"] as const;

const line: fc.Arbitrary<StoredLease["history"][number]> = fc
  .oneof(
    fc.record({ kind: fc.constant("granted" as const), cause: optional(fc.constantFrom(...grantCauses)) }),
    fc.record({ kind: fc.constantFrom(...otherKinds, ...moreKinds), cause: optional(fc.constantFrom(...endCauses)) }),
  )
  .chain((what) =>
    fc
      .record({ position: place, holder: text, token: wide, author: text, details })
      .map((more) => ({ ...what, ...more })),
  );

/** All that is kept under one lease name. */
export const storedLease: fc.Arbitrary<StoredLease> = fc.record({
  key: lease,
  created: optional(place),
  uid: id,
  revision: place,
  spec: leaseSpec,
  holds: many(hold),
  pending: optional(at(pendingHold, "from")),
  lastToken: wide,
  transitions: digest32,
  lastEndReason: optional(fc.constantFrom(...endCauses)),
  freeSince: place,
  lockDelay: optional(fc.record({ from: place, delayMs: durationMs })),
  deletion: optional(
    fc.record({ endReason: fc.constantFrom("deleted" as const, "collected" as const), author: text, reason: text }),
  ),
  strategy: optional(at(strategySetting, "set")),
  conflict: optional(at(strategyConflict, "since")),
  preferredHolder: text,
  endOfTerm: optional(at(endOfTerm, "marked")),
  eligibility: optional(eligibility),
  migration: optional(fc.record({ configuration: bytes, revision: place })),
  candidates: many(candidate),
  guarded: many(fc.record({ key: word, value: bytes, revision: place, token: wide, holder: text })),
  history: many(line),
  isHistoryTruncated: fc.boolean(),
  decisions: many(fc.record({ id: text, body: bytes, revision: place })),
});

const storedClient: fc.Arbitrary<StoredClient> = fc.record({
  client,
  floor: wide,
  outcomes: many(fc.record({ number: wide, digest: digest32, outcome: outcomeFacts, position: optional(place) })),
});

/** A partition's snapshot. Its places need not exist: the codec does not look them up. */
export const partitionSnapshot: fc.Arbitrary<PartitionSnapshot> = fc.record({
  formatVersion: fc.constant(1 as const),
  partition: fc.integer({ min: 0, max: 255 }),
  sequence: wide,
  epoch: wide,
  batchId: fc.option(batchId, { nil: "" }),
  owner: text,
  successor: text,
  owesPause: fc.boolean(),
  epochStart: place,
  nextId: id,
  settings,
  recovery: optional(fc.record({ from: place, holdOffMs: durationMs })),
  snapshot: optional(snapshotReference),
  positions: fc
    .uniqueArray(wide, { maxLength: 6 })
    .map((sequences) => sequences.sort((left, right) => (left < right ? -1 : 1)))
    .map((sequences) => sequences.map((sequence, index) => ({ sequence, wallMs: 1_700_000_000_000 - index * 7.5 }))),
  leases: many(storedLease),
  clients: many(storedClient),
  retiredClients: many(fc.record({ client, floor: wide })),
});
