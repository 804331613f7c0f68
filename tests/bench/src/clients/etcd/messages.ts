import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

/** The few messages of etcd's API that are measured, written by hand: nothing is encoded that is not needed. */
export const methods = {
  leaseGrant: "/etcdserverpb.Lease/LeaseGrant",
  leaseRevoke: "/etcdserverpb.Lease/LeaseRevoke",
  leaseKeepAlive: "/etcdserverpb.Lease/LeaseKeepAlive",
  put: "/etcdserverpb.KV/Put",
  txn: "/etcdserverpb.KV/Txn",
  watch: "/etcdserverpb.Watch/Watch",
  lock: "/v3lockpb.Lock/Lock",
  unlock: "/v3lockpb.Lock/Unlock",
} as const;

const text = (value: string) => new TextEncoder().encode(value);

/** `Compare.target` and the field that holds what it is compared with. */
const compareCreate = { target: 1, field: 5 };
const compareLease = { target: 4, field: 8 };
const equal = 0;

export function encodeGrant(ttlSeconds: number): Uint8Array {
  return new BinaryWriter().uint32(8).int64(ttlSeconds).finish();
}

/** `LeaseRevokeRequest` and `LeaseKeepAliveRequest`, which are the same on the wire. */
export function encodeLeaseId(id: string): Uint8Array {
  return new BinaryWriter().uint32(8).int64(id).finish();
}

/** The lease id in the answers of grant and keep-alive. */
export function decodeLeaseId(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 2) return reader.int64().toString();
    reader.skip(wireType);
  }
  throw new Error("etcd answered without a lease");
}

export function encodePut(key: string, value: string, lease?: string): Uint8Array {
  return putInto(new BinaryWriter(), key, value, lease).finish();
}

/** Creates a key under a lease if it is not there: how a lock is taken without waiting. */
export function encodeCreate(key: string, lease: string): Uint8Array {
  return encodeTxn(key, compareCreate, "0", encodePut(key, "held", lease));
}

/** Writes if the key of a lock is still under this lease. */
export function encodeGuardedPut(lockKey: string, lease: string, key: string, value: string): Uint8Array {
  return encodeTxn(lockKey, compareLease, lease, encodePut(key, value));
}

/** Whether the comparison of a transaction held. */
export function decodeSucceeded(bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 2) return reader.bool();
    reader.skip(wireType);
  }
  return false;
}

export function encodeLock(name: string, lease: string): Uint8Array {
  return new BinaryWriter().uint32(10).bytes(text(name)).uint32(16).int64(lease).finish();
}

/** The key that an answer of the lock service names, which is what unlocking needs. */
export function decodeLockKey(bytes: Uint8Array): Uint8Array {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 2) return reader.bytes();
    reader.skip(wireType);
  }
  throw new Error("etcd locked without a key");
}

export function encodeUnlock(key: Uint8Array): Uint8Array {
  return new BinaryWriter().uint32(10).bytes(key).finish();
}

export function encodeWatch(key: string): Uint8Array {
  const create = new BinaryWriter().uint32(10).bytes(text(key)).finish();
  return new BinaryWriter().uint32(10).bytes(create).finish();
}

/** Whether a watch was created, and how many events a message of it has. */
export function decodeWatched(bytes: Uint8Array): { readonly isCreated: boolean; readonly events: number } {
  const reader = new BinaryReader(bytes);
  let isCreated = false;
  let events = 0;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 3) isCreated = reader.bool();
    else {
      if (field === 11) events += 1;
      reader.skip(wireType);
    }
  }
  return { isCreated, events };
}

function encodeTxn(
  key: string,
  { field, target }: { readonly target: number; readonly field: number },
  expected: string,
  put: Uint8Array,
): Uint8Array {
  const compare = new BinaryWriter().uint32(8).int32(equal).uint32(16).int32(target).uint32(26).bytes(text(key));
  compare.uint32(field << 3).int64(expected);
  const operation = new BinaryWriter().uint32(18).bytes(put).finish();
  return new BinaryWriter().uint32(10).bytes(compare.finish()).uint32(18).bytes(operation).finish();
}

function putInto(writer: BinaryWriter, key: string, value: string, lease: string | undefined): BinaryWriter {
  writer.uint32(10).bytes(text(key)).uint32(18).bytes(text(value));
  return lease === undefined ? writer : writer.uint32(24).int64(lease);
}
