import assert from "node:assert/strict";
import type { Fault } from "@tenure/kernel";
import { type SnapshotStore, snapshotName } from "../snapshot/snapshot-store.ts";
import type { ContractCase } from "./contract-case.ts";

/** An empty store to show the contract on; its bound should be short, since missing objects are asked for. */
export interface SnapshotFixture {
  /** Another client of the same store. */
  connect(): SnapshotStore;
}

/** Bytes that differ everywhere, so that chunks in a wrong order are noticed. */
function bytesOf(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index += 1) bytes[index] = (index * 31 + (index >>> 8) * 17 + seed) & 0xff;
  return bytes;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "resolved",
    (fault: Fault) => fault.code,
  );
}

const cases: readonly ContractCase<SnapshotFixture>[] = [
  ...[0, 1, 262_144, 262_145, 1_500_000].map((length) => ({
    title: `an object of ${length} bytes is read as it was put, by another client`,
    async show(fixture: SnapshotFixture) {
      const bytes = bytesOf(length);
      const object = await fixture.connect().put(snapshotName(3, 17n), bytes);
      assert.deepEqual([object.name, object.sizeBytes], ["3/17", length]);
      assert.match(object.digest, /^[0-9a-f]{64}$/);
      const read = await fixture.connect().get(object);
      assert.ok(Buffer.from(read).equals(bytes));
    },
  })),
  {
    title: "the same bytes may be put again, others are refused and change nothing",
    async show(fixture) {
      const store = fixture.connect();
      const object = await store.put("0/5", bytesOf(1000));
      assert.deepEqual(await fixture.connect().put("0/5", bytesOf(1000)), object);
      assert.equal(await codeOf(store.put("0/5", bytesOf(1000, 2))), "ALREADY_EXISTS");
      assert.equal((await store.get(object)).byteLength, 1000);
    },
  },
  {
    title: "an object with another digest or size than the log says is refused",
    async show(fixture) {
      const store = fixture.connect();
      const object = await store.put("0/5", bytesOf(1000));
      assert.equal(await codeOf(store.get({ ...object, digest: "0".repeat(64) })), "DATA_LOSS");
      assert.equal(await codeOf(store.get({ ...object, sizeBytes: 999 })), "DATA_LOSS");
    },
  },
  {
    title: "an object that was never put is not found",
    async show(fixture) {
      const object = { name: "0/6", digest: "0".repeat(64), sizeBytes: 1 };
      assert.equal(await codeOf(fixture.connect().get(object)), "NOT_FOUND");
    },
  },
  {
    title: "a name that is none is refused",
    async show(fixture) {
      for (const name of ["", "5", "0/", "0/x", "a/1", "0/1/2", "0/*", "0/1 "]) {
        assert.equal(await codeOf(fixture.connect().put(name, bytesOf(1))), "INVALID_ARGUMENT", name);
      }
    },
  },
];

/** What every snapshot store promises. */
export const snapshotStoreContract = cases;
