import type {
  CandidateSpec,
  Cordon,
  Eligibility,
  EndOfTerm,
  HoldDetails,
  HoldFacts,
  LeaseSpec,
  OutcomeFacts,
  Participant,
  PendingHold,
  Priority,
  Settings,
  SnapshotReference,
  Strategy,
  StrategyConflict,
  StrategySetting,
  Timing,
  WrittenTimes,
} from "@tenure/core";
import { defaultLeaseSpec, defaultSettings, strategyKinds } from "@tenure/core";
import fc from "fast-check";

/** Values of core in the form that the wire gives back: what is optional is absent rather than empty. */

/** A duration in whole ms, up to a few hundred years. */
export const durationMs = fc.oneof(
  fc.constantFrom(0, 1, 999, 1_000, 15_000, 86_400_000),
  fc.integer({ min: 0, max: 2 ** 43 }),
);
/** A number of 64 bits. */
export const wide = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** An id, which a plain number holds. */
export const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
/** Any text that survives UTF-8. */
export const text = fc.string({ unit: "grapheme", maxLength: 12 });
/** A text that is not empty. */
export const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
/** Bytes, possibly none. */
export const bytes = fc.uint8Array({ maxLength: 24 });
/** Bytes, at least one. */
export const someBytes = fc.uint8Array({ minLength: 1, maxLength: 24 });
/** Hexadecimal text of whole bytes. */
export const hex = fc.uint8Array({ maxLength: 32 }).map((given) => Buffer.from(given).toString("hex"));
const sha256 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((given) => Buffer.from(given).toString("hex"));
const part = fc.stringMatching(/^[a-z0-9]{1,8}$/);
/** A lease's key. */
export const lease = fc.tuple(part, part).map(([namespace, name]) => `${namespace}/${name}`);
/** A client with its principal. */
export const client = fc.tuple(text, part).map(([principal, clientId]) => `${principal}\n${clientId}`);
const count32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });
const labels = fc
  .dictionary(fc.stringMatching(/^[a-z0-9][-._/a-z0-9]{0,8}$/), text, { maxKeys: 4, noNullPrototype: true })
  .filter((given) => !Object.hasOwn(given, "__proto__"));

/** A strategy. */
export const strategy: fc.Arbitrary<Strategy> = fc.record({
  kind: fc.constantFrom(...strategyKinds),
  expression: text,
  vendor: text,
});

/** What clients set on a lease, often the defaults. */
export const leaseSpec: fc.Arbitrary<LeaseSpec> = fc.oneof(
  fc.constant(defaultLeaseSpec),
  fc.record({
    leaseDurationMs: durationMs,
    lockDelayMs: durationMs,
    mode: fc.constantFrom("exclusive", "shared", "counted"),
    capacity: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    drainBoundMs: durationMs,
    minimumTermMs: durationMs,
    coolDownMs: durationMs,
    fallbackDelayMs: fc.option(durationMs, { nil: undefined }),
    consensusRule: fc.constantFrom("precedence", "highestBinaryVersion"),
    zonePreference: fc.array(text, { maxLength: 3 }),
    labels,
    annotations: labels,
  }),
);

/** A component and release. */
export const participant: fc.Arbitrary<Participant> = fc.record({
  component: text,
  version: text,
  configurationDigest: hex,
});

/** The durations of a holder. */
export const timing: fc.Arbitrary<Timing> = fc.record({
  leaseDurationMs: durationMs,
  usableTermMs: durationMs,
  renewIntervalMs: durationMs,
  requestTimeoutMs: durationMs,
});

/** What a candidate says about itself. */
export const candidateSpec: fc.Arbitrary<CandidateSpec> = fc.record(
  {
    binaryVersion: text,
    compatibilityVersion: text,
    strategy,
    labels,
    zone: text,
    preference: fc.constantFrom("preferred", "neutral", "lastResort", "never"),
    isHealthy: fc.boolean(),
    healthNote: text,
    validityMs: durationMs,
    identity: text,
    participant,
    timing,
  },
  {
    requiredKeys: [
      "binaryVersion",
      "compatibilityVersion",
      "strategy",
      "labels",
      "zone",
      "preference",
      "isHealthy",
      "healthNote",
      "validityMs",
      "identity",
    ],
  },
);

/** A priority. */
export const priority: fc.Arbitrary<Priority> = fc.record({
  value: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  expiresAfterMs: fc.option(durationMs, { nil: undefined }),
  author: text,
  reason: text,
});

/** A cordon. */
export const cordon: fc.Arbitrary<Cordon> = fc.record({
  expiresAfterMs: fc.option(durationMs, { nil: undefined }),
  author: text,
  reason: text,
});

/** Times of day as a client wrote them. */
export const writtenTimes: fc.Arbitrary<WrittenTimes> = fc.record(
  { acquiredAtMicros: micros, renewedAtMicros: micros },
  { requiredKeys: [] },
);

const holdDetails: fc.Arbitrary<HoldDetails> = fc
  .record(
    {
      candidate: word,
      electedBy: word,
      decisionId: word,
      identity: word,
      participant,
      value: someBytes,
      renewKeyHash: sha256,
      writtenTimes,
    },
    { requiredKeys: [] },
  )
  .filter((given) => Object.keys(given).length > 0);

/** A term. */
export const holdFacts: fc.Arbitrary<HoldFacts> = fc.record(
  {
    id,
    token: wide,
    holder: word,
    holderKey: text,
    principal: text,
    mode: fc.constantFrom("exclusive", "shared", "counted"),
    units: fc.integer({ min: 1, max: 1_000 }),
    origin: fc.constantFrom("acquired", "elected", "fallback", "written", "stolen"),
    leaseDurationMs: durationMs,
    lockDelayMs: durationMs,
    details: holdDetails,
  },
  {
    requiredKeys: [
      "id",
      "token",
      "holder",
      "holderKey",
      "principal",
      "mode",
      "units",
      "origin",
      "leaseDurationMs",
      "lockDelayMs",
    ],
  },
);

/** A choice that has not been accepted. */
export const pendingHold: fc.Arbitrary<PendingHold> = fc.record({
  token: wide,
  candidate: word,
  electedBy: text,
  decisionId: text,
  acceptWindowMs: durationMs,
});

/** The mark that asks a holder to finish. */
export const endOfTerm: fc.Arbitrary<EndOfTerm> = fc.record(
  {
    token: wide,
    preferredHolder: text,
    drainBoundMs: durationMs,
    author: text,
    reason: text,
    decisionId: text,
    coolDownMs: durationMs,
  },
  { requiredKeys: ["token", "preferredHolder", "drainBoundMs", "author", "reason", "decisionId"] },
);

/** Which components may hold a migration lock. */
export const eligibility: fc.Arbitrary<Eligibility> = fc.record({
  configuration: text,
  configurationDigest: hex,
  components: fc.array(fc.record({ name: text, versionRange: text }), { maxLength: 3 }),
});

/** A lease's strategy. */
export const strategySetting: fc.Arbitrary<StrategySetting> = fc.record({
  strategy,
  source: fc.constantFrom("operator", "consensus", "written"),
  author: text,
  reason: text,
});

/** A conflict of strategies. */
export const strategyConflict: fc.Arbitrary<StrategyConflict> = fc.record({
  sides: fc.array(fc.record({ strategy, candidates: fc.array(text, { maxLength: 3 }) }), { maxLength: 3 }),
});

/** The name of a snapshot. */
export const snapshotReference: fc.Arbitrary<SnapshotReference> = fc.record({
  name: text,
  sequence: wide,
  digest: sha256,
  sizeBytes: id,
});

const numbersLike = <T extends object>(like: T, number: fc.Arbitrary<number>): fc.Arbitrary<T> =>
  fc.record(Object.fromEntries(Object.keys(like).map((key) => [key, number]))) as unknown as fc.Arbitrary<T>;

/** A partition's settings. */
export const settings: fc.Arbitrary<Settings> = fc.record({
  limits: numbersLike(defaultSettings.limits, id),
  retention: numbersLike(defaultSettings.retention, id),
  policy: numbersLike(defaultSettings.policy, durationMs).chain((policy) =>
    fc.double({ min: 0, max: 1, noNaN: true }).map((rateError) => ({ ...policy, rateError: Math.abs(rateError) })),
  ),
  timing,
  acceptWindowMs: durationMs,
});

/** What a change did. */
export const outcomeFacts: fc.Arbitrary<OutcomeFacts> = fc.oneof(
  fc.record({
    kind: fc.constant("granted" as const),
    grants: fc.array(fc.record({ lease, holdId: id, token: wide, sendNumber: wide }), { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("released" as const), released: fc.array(fc.boolean(), { maxLength: 5 }) }),
  fc.record({ kind: fc.constant("changed" as const), lease }),
  fc.record({ kind: fc.constant("deleted" as const), lease, isLingering: fc.boolean() }),
  fc.record({ kind: fc.constant("guardedChanged" as const), lease, existed: fc.boolean() }),
  fc.record({ kind: fc.constant("candidateChanged" as const), lease, candidate: word }),
  fc.record({ kind: fc.constant("candidateRemoved" as const), lease, candidate: word, existed: fc.boolean() }),
  fc.record({ kind: fc.constant("pinged" as const), lease, pingNumbers: fc.array(wide, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant("collected" as const), isCollected: fc.boolean() }),
);

/** A hash of 32 bits. */
export const digest32 = count32;
