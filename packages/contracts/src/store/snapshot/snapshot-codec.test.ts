import {
  type Command,
  commitBatch,
  emptyPartition,
  execute,
  loadSnapshot,
  openBatch,
  ownPartition,
  type PartitionSnapshot,
  takeSnapshot,
} from "@tenure/core";
import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SnapshotHeader } from "../../gen/tenure/log/v1/snapshot.ts";
import { snapshotReference } from "../testing/arbitraries.ts";
import { partitionSnapshot } from "../testing/snapshot-arbitraries.ts";
import { decodeSnapshot, decodeSnapshotInSteps } from "./decode-snapshot.ts";
import { encodeSnapshot, type SnapshotOrigin, snapshotChunks } from "./encode-snapshot.ts";

const origin: SnapshotOrigin = {
  incarnationId: "incarnation-1",
  writer: "store-1",
  wallMs: 1_700_000_000_123,
  previous: undefined,
};

/** A partition with this many held leases, 500 of them taken in each batch. */
function heldLeases(count: number): PartitionSnapshot {
  const owned = ownPartition(emptyPartition(0, 0), 0, 0);
  const commit = (sequence: number) => commitBatch(owned, BigInt(sequence), sequence.toString(16).padStart(32, "0"));
  execute(owned, { kind: "takeOver", epoch: 1n, owner: "store-1", isHandedOver: false, principal: "store" }, 0);
  commit(1_000);
  for (let from = 0; from < count; from += 500) {
    openBatch(owned, from, 1_700_000_000_000 + from);
    for (let number = from; number < Math.min(count, from + 500); number++) {
      const claims = [{ lease: `billing/worker-${number}`, mode: "exclusive", units: 1 }] as const;
      const attempt = {
        clientId: `client-${number % 1_000}`,
        number: BigInt(number + 1),
        settledBelow: BigInt(number),
      };
      const header = { principal: "spiffe://example.org/worker", attempt };
      const command: Command = {
        kind: "acquire",
        claims,
        claimant: { holder: `worker-${number}` },
        sendNumber: 1n,
        ...header,
      };
      execute(owned, command, from);
    }
    commit(2_000 + from);
  }
  return takeSnapshot(owned.state);
}

function faultOf(act: () => unknown): Fault {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}

describe("a snapshot", () => {
  it("comes back from its object as it was, and is written the same way twice", () => {
    fc.assert(
      fc.property(partitionSnapshot, fc.option(snapshotReference, { nil: undefined }), (snapshot, previous) => {
        const object = encodeSnapshot(snapshot, { ...origin, previous });
        const read = decodeSnapshot(object);
        expect(read.snapshot).toEqual(snapshot);
        expect(read.origin).toEqual({ ...origin, previous });
        expect(Buffer.compare(encodeSnapshot(read.snapshot, read.origin), object)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it("of a partition at work loads into the same state, in pieces and in steps", () => {
    const snapshot = heldLeases(3_000);
    const pieces = [...snapshotChunks(snapshot, origin)];
    expect(pieces.length).toBeGreaterThan(2);
    const steps = decodeSnapshotInSteps(Buffer.concat(pieces));
    const counts: number[] = [];
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) counts.push(step.value);
    expect(counts.slice(0, 2)).toEqual([1_024, 2_048]);
    expect(takeSnapshot(loadSnapshot(step.value.snapshot, 5))).toEqual(snapshot);
  });

  it("stores a spec once for all leases that have an equal one, whichever object it is", () => {
    const snapshot = heldLeases(200);
    const longer = (index: number) => ({ ...snapshot.leases[0]!.spec, leaseDurationMs: 20_000 + (index % 2) });
    const leases = snapshot.leases.map((lease, index) => ({ ...lease, spec: longer(index) }));
    const specs = decodeSnapshot(encodeSnapshot({ ...snapshot, leases }, origin)).snapshot.leases.map(
      ({ spec }) => spec,
    );
    expect(new Set(specs).size).toBe(2);
    expect(specs[0]).toEqual(longer(0));
  });

  it("takes some hundred bytes for each held lease", () => {
    const size = (count: number) => encodeSnapshot(heldLeases(count), origin).length;
    expect((size(4_000) - size(2_000)) / 2_000).toBeLessThan(400);
  });

  it("of a higher format is refused", () => {
    const object = encodeSnapshot(heldLeases(1), origin);
    const length = object[0]!;
    const header = { ...SnapshotHeader.decode(object.slice(1, 1 + length)), formatVersion: 2 };
    const newer = Buffer.concat([
      Uint8Array.of(length),
      SnapshotHeader.encode(header).finish(),
      object.slice(1 + length),
    ]);
    expect(faultOf(() => decodeSnapshot(newer))).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "FORMAT_TOO_NEW",
      message: expect.stringContaining("snapshot 0/2000 was written by a newer version: its format is 2"),
    });
  });

  it("that is cut short, empty or has a record too many is malformed", () => {
    const object = encodeSnapshot(heldLeases(20), origin);
    const extra = Buffer.concat([object, Uint8Array.of(0)]);
    for (const broken of [object.slice(0, -1), object.slice(0, 40), new Uint8Array(0), extra]) {
      expect(faultOf(() => decodeSnapshot(broken))).toMatchObject({ code: "DATA_LOSS", reason: "MALFORMED_MESSAGE" });
    }
    for (let length = 0; length < object.length; length += 7) {
      expect(() => decodeSnapshot(object.slice(0, length))).toThrow(Fault);
    }
  });
});
