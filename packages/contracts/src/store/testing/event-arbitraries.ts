import type { Event, EventBody } from "@tenure/core";
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
  pendingHold,
  priority,
  settings,
  snapshotReference,
  strategyConflict,
  strategySetting,
  text,
  wide,
  word,
  writtenTimes,
} from "./arbitraries.ts";

/** The epoch of every batch that tests make. */
export const testEpoch = 7n;

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const endReason = fc.constantFrom(
  "released" as const,
  "expired" as const,
  "ended" as const,
  "preempted" as const,
  "deleted" as const,
  "steppedDown" as const,
  "revoked" as const,
  "stolen" as const,
  "notAccepted" as const,
  "collected" as const,
  "written" as const,
);

type BodyOf<K extends EventBody["kind"]> = Omit<Extract<EventBody, { readonly kind: K }>, "kind">;

/** One arbitrary for each kind of event, so that a kind without one does not compile. */
export const eventBodies: { readonly [K in EventBody["kind"]]: fc.Arbitrary<BodyOf<K>> } = {
  ownerChanged: fc.record({
    epoch: fc.constant(testEpoch),
    owner: text,
    previousEpoch: wide,
    previousOwner: text,
    isHandedOver: fc.boolean(),
  }),
  ownerHandedOver: fc.record({ successor: text, owesPause: fc.boolean() }),
  snapshotAnnounced: fc.record({ snapshot: snapshotReference }),
  settingsChanged: fc.record({ settings }),
  recoveryChanged: fc.record({ holdOffMs: durationMs }),
  attemptRecorded: fc.record({ client, number: wide, settledBelow: wide, digest: digest32, outcome: outcomeFacts }),
  attemptsForgotten: fc.record({ client, belowNumber: wide }),
  leaseCreated: fc.record({ lease, uid: id, spec: leaseSpec }),
  leaseUpdated: fc.record({ lease, spec: leaseSpec }),
  leaseDeleted: fc.record({
    lease,
    isRemoved: fc.boolean(),
    token: wide,
    endReason: fc.constantFrom("deleted", "revoked", "collected"),
  }),
  leaseRestored: fc.record({ lease }),
  tombstoneRemoved: fc.record({ lease }),
  strategyChanged: fc.record({ lease, strategy: optional(strategySetting), conflict: optional(strategyConflict) }),
  migrationChanged: fc.record({ lease, configuration: optional(bytes), eligibility: optional(eligibility) }),
  decisionRecorded: fc.record({ lease, id: text, body: bytes }),
  holdGranted: fc.record({ lease, hold: holdFacts, transitions: digest32 }),
  renewed: fc.record({
    holdIds: fc.uniqueArray(id, { minLength: 1, maxLength: 8 }),
    sendNumber: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
  }),
  holdChanged: fc.record(
    { lease, holdId: id, leaseDurationMs: durationMs, value: bytes, writtenTimes },
    { requiredKeys: ["lease", "holdId"] },
  ),
  holdEnded: fc.record({
    lease,
    holdId: id,
    token: wide,
    endReason,
    heldForMs: durationMs,
    successor: text,
    lockDelayMs: durationMs,
  }),
  holdPending: fc.record({ lease, pending: pendingHold }),
  pendingLapsed: fc.record({ lease, token: wide, candidate: word }),
  endOfTermMarked: fc.record({ lease, endOfTerm }),
  endOfTermCleared: fc.record({ lease, token: wide }),
  candidatePut: fc.record({
    lease,
    candidate: word,
    uid: id,
    principal: text,
    spec: candidateSpec,
    priority: optional(priority),
    cordon: optional(cordon),
  }),
  candidateRenewed: fc.record({ lease, candidate: word }),
  candidatesPinged: fc.record({
    lease,
    questions: fc.array(fc.record({ candidate: word, pingNumber: wide }), { maxLength: 3 }),
    coordinator: text,
  }),
  candidateAnswered: fc.record({ lease, candidate: word, pingNumber: wide }),
  candidateRemoved: fc.record({
    lease,
    candidate: word,
    removal: fc.constantFrom("withdrawn", "collected", "dependent"),
  }),
  candidateCooledDown: fc.record({ lease, candidate: word, coolDownMs: durationMs, hasMissedAccept: fc.boolean() }),
  guardChanged: fc.record({
    lease,
    token: wide,
    holder: text,
    changes: fc.array(fc.record({ key: word, value: optional(bytes) }), { maxLength: 3 }),
  }),
};

/** Every kind of event. */
export const eventKinds = Object.keys(eventBodies) as readonly EventBody["kind"][];

/** An event of one kind. */
export function eventOf(kind: EventBody["kind"]): fc.Arbitrary<Event> {
  const body: fc.Arbitrary<object> = eventBodies[kind];
  return fc.record({ body, author: text, reason: text }).map(({ author, body: given, reason }) => {
    return { kind, ...given, author, reason } as Event;
  });
}

/** An event of any kind. */
export const anyEvent: fc.Arbitrary<Event> = fc.oneof(...eventKinds.map(eventOf));
