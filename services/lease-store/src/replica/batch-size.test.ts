import { encodeBatch } from "@tenure/contracts";
import { defaultLeaseSpec, type Event } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { eventBytes } from "./batch-size.ts";

const cause = { author: "someone", reason: "because" };
const lease = "billing/scheduler";

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
