import { decodeRenewals, encodeRenewals, mostHoldsPerCall, renewalLayout } from "@tenure/contracts";

/** One group of packed renewals, still packed. */
export interface PackedGroup {
  readonly partition: number;
  readonly sendNumber: number;
  /** The holds, ascending. */
  readonly holdIds: readonly number[];
  /** The group's own bytes, without the version that stands before the first one. */
  readonly bytes: Uint8Array;
}

/**
 * The groups of packed renewals, each with its own bytes, none larger than one call may carry. Bytes that are no
 * packed renewals throw a Fault: one client's mistake must not spoil the message that it would share with others.
 */
export function packedGroups(bytes: Uint8Array): readonly PackedGroup[] {
  const groups = decodeRenewals(bytes);
  const [only] = groups;
  if (only !== undefined && groups.length === 1 && only.holdIds.length <= mostHoldsPerCall) {
    const { holdIds, partition, sendNumber } = only;
    return [{ partition, sendNumber, holdIds, bytes: bytes.subarray(1) }];
  }
  return groups.flatMap(({ partition, sendNumber, holdIds }) => {
    const parts: PackedGroup[] = [];
    for (let start = 0; start < holdIds.length; start += mostHoldsPerCall) {
      const part = { partition, sendNumber, holdIds: holdIds.slice(start, start + mostHoldsPerCall) };
      parts.push({ ...part, bytes: encodeRenewals([part]).subarray(1) });
    }
    return parts;
  });
}

/** Where the part of a group's bytes begins that says which holds it has: after its partition and send number. */
export function holdsStart(bytes: Uint8Array): number {
  let start = 0;
  for (let numbers = 0; numbers < 2; start += 1) if ((bytes[start] ?? 0) < 0x80) numbers += 1;
  return start;
}

/** Groups one after the other as packed renewals. No groups give no bytes. */
export function packGroups(groups: readonly Pick<PackedGroup, "bytes">[]): Uint8Array {
  if (groups.length === 0) return new Uint8Array(0);
  let size = 1;
  for (const { bytes } of groups) size += bytes.length;
  const packed = new Uint8Array(size);
  packed[0] = renewalLayout;
  let offset = 1;
  for (const { bytes } of groups) {
    packed.set(bytes, offset);
    offset += bytes.length;
  }
  return packed;
}

/** Several packed renewals as one. */
export function joinPacked(packed: readonly Uint8Array[]): Uint8Array {
  const [only] = packed;
  if (only !== undefined && packed.length === 1) return only;
  return packGroups(packed.filter(({ length }) => length > 0).map((bytes) => ({ bytes: bytes.subarray(1) })));
}
