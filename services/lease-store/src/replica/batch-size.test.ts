import { encodeBatch } from "@tenure/contracts";
import { defaultLeaseSpec, type Event, type HoldDetails } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { eventBytes } from "./batch-size.ts";

const cause = { author: "someone", reason: "because" };
const lease = "billing/scheduler";

/** Terms as long and as short as they may be, and what attempts did to them. */
function plainEvents(holder: string, holderKey: string, principal: string, details: HoldDetails | undefined) {
  const id = Number.MAX_SAFE_INTEGER;
  const token = 2n ** 53n - 1n;
  const facts = {
    mode: "exclusive",
    units: 2 ** 31,
    origin: "acquired",
    leaseDurationMs: 1e9 + 0.1,
    lockDelayMs: 1e9,
  } as const;
  const hold = { id, token, holder, holderKey, principal, ...facts, ...(details && { details }) };
  const ended = {
    holdId: id,
    token,
    endReason: "released",
    heldForMs: 1e9 + 0.1,
    successor: holder,
    lockDelayMs: 1e9,
  } as const;
  const grants = Array.from({ length: 16 }, () => ({ lease, holdId: id, token, sendNumber: 2n ** 63n }));
  const attempt = {
    kind: "attemptRecorded",
    client: `${principal}\n${holder}`,
    number: token,
    settledBelow: token,
    digest: 2 ** 32 - 1,
  } as const;
  const what = details === undefined ? "plain" : "long";
  return [
    [`a ${what} term`, { kind: "holdGranted", lease, hold, transitions: 2 ** 32 - 1, ...cause }],
    [`the end of a ${what} term`, { kind: "holdEnded", lease, ...ended, ...cause }],
    [`an attempt at a ${what} term`, { ...attempt, outcome: { kind: "granted", grants }, ...cause }],
    [
      `an attempt to end a ${what} term`,
      { ...attempt, outcome: { kind: "released", released: Array(16).fill(true) }, ...cause },
    ],
  ] as const satisfies readonly (readonly [string, Event])[];
}

const events: readonly (readonly [string, Event])[] = [
  ["a created lease", { kind: "leaseCreated", lease, uid: 7, spec: defaultLeaseSpec, ...cause }],
  [
    "labels of other alphabets",
    { kind: "leaseUpdated", lease, spec: { ...defaultLeaseSpec, labels: { größe: "日本語".repeat(200) } }, ...cause },
  ],
  [
    "guarded values",
    {
      kind: "guardChanged",
      lease,
      token: 2n ** 53n,
      holder: "h",
      changes: [{ key: "k", value: new Uint8Array(10_000) }],
      ...cause,
    },
  ],
  ...plainEvents("h", "k", "p", undefined),
  ...plainEvents("größe".repeat(50), "日本語".repeat(80), "p".repeat(253), {
    candidate: "日本語".repeat(80),
    electedBy: "e".repeat(200),
    decisionId: "d".repeat(20),
    identity: "i".repeat(253),
    participant: { component: "c".repeat(200), version: "1.2.3", configurationDigest: "f".repeat(64) },
    value: new Uint8Array(4_096),
    renewKeyHash: "a".repeat(64),
    writtenTimes: { acquiredAtMicros: 10n ** 17n, renewedAtMicros: 10n ** 17n + 1n },
  }),
  [
    "renewals",
    {
      kind: "renewed",
      holdIds: Array.from({ length: 5_000 }, (_, index) => 2 ** 45 + index * 2 ** 30),
      sendNumber: 1n,
      ...cause,
    },
  ],
];

describe("the size of a batch", () => {
  it.each(events)("is never more than what its events are counted as: %s", (_, event) => {
    const batch = {
      partition: 0,
      epoch: 1n,
      prev: 2n ** 50n,
      wallMs: 0,
      batchId: "0".repeat(32),
      prevBatchId: "1".repeat(32),
      writer: "w",
      incarnationId: "i",
      snapshot: undefined,
    };
    const empty = encodeBatch({ ...batch, events: [] }).length;
    expect(encodeBatch({ ...batch, events: [event] }).length - empty).toBeLessThanOrEqual(eventBytes(event));
  });
});
