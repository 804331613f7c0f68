import { describe, expect, it } from "vitest";
import { auditStream, incarnationStream, logStream, probeStream, snapshotStream } from "./streams.ts";

const plan = { replicas: 3, incarnationId: "a", firstSequence: 1_763_270_400_000_001n };

describe("the streams", () => {
  it.each([logStream, incarnationStream, auditStream, snapshotStream, probeStream])(
    "of $name are replicated, on disk, read through the leader and tied to their incarnation",
    (settings) => {
      expect(settings(plan)).toMatchObject({
        num_replicas: 3,
        storage: "file",
        allow_direct: false,
        deny_delete: true,
        duplicate_window: 1_000_000_000,
        metadata: { "tenure.incarnation": "a" },
      });
    },
  );

  it("keep the log until it is purged: no age, refusing when full, beginning at the given sequence", () => {
    expect(logStream(plan)).toMatchObject({ max_age: 0, discard: "new", first_seq: 1_763_270_400_000_001 });
    expect(logStream(plan)).not.toHaveProperty("deny_purge");
  });

  it("keep record and audit from being purged", () => {
    for (const settings of [incarnationStream, auditStream]) expect(settings(plan)).toMatchObject({ deny_purge: true });
  });

  it("let only audit and probe age", () => {
    for (const settings of [logStream, incarnationStream, snapshotStream]) expect(settings(plan).max_age ?? 0).toBe(0);
    for (const settings of [auditStream, probeStream]) expect(settings(plan).max_age).toBeGreaterThan(0);
  });
});
