import { Hypothesis, Lease } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { wireJson } from "./wire-json.ts";

describe("wireJson", () => {
  it("shows durations and instants as protobuf's JSON does, also those that are 0", () => {
    const lease = Lease.fromPartial({
      key: { namespace: "a", name: "b" },
      createdAt: { seconds: 1_794_832_071n, nanos: 90_000_000 },
      spec: { leaseDuration: { seconds: 1n, nanos: 500_000_000 }, lockDelay: { seconds: 0n, nanos: 0 } },
      holds: [{ token: 12n, acquiredAt: { seconds: 0n, nanos: 0 } }],
    });
    expect(wireJson(Lease, lease)).toMatchObject({
      createdAt: "2026-11-16T12:27:51.090Z",
      spec: { leaseDuration: "1.5s", lockDelay: "0s" },
      holds: [{ token: "12", acquiredAt: "1970-01-01T00:00:00.000Z" }],
    });
  });

  it("finds durations inside the chosen one of several fields", () => {
    const value = { name: "x", priority: { value: 1, expiresAfter: { seconds: 0n, nanos: 0 } } };
    const hypothesis = Hypothesis.fromPartial({ assumption: { $case: "candidate", value } });
    expect(wireJson(Hypothesis, hypothesis)).toMatchObject({ candidate: { priority: { expiresAfter: "0s" } } });
  });
});
