import { Fault } from "@tenure/kernel";

/**
 * Renewals in packed form: one layout for clients, gateways, owners and the log. `tenure.log.v1.Batch.renewals`
 * documents it. A field is either decoded whole or refused whole, and every accepted field is the only encoding of
 * what it says.
 */

/** Renewals, or their acknowledgements, of one partition that share a send number. */
export interface RenewalGroup {
  /** The partition that keeps the leases; 0 to 65535. */
  readonly partition: number;
  /** The holder's number of the send; 0 to 2^53 - 1, so that a plain number is exact. */
  readonly sendNumber: number;
  /** The holds, strictly ascending; 1 to 65536 of them, each 0 to 2^53 - 1. */
  readonly holdIds: readonly number[];
}

/** The byte that packed renewals begin with: the layout's only version so far. */
export const renewalLayout = 0x01;
const maxPartition = 0xffff;
/** The most holds that one packed group may have. */
export const mostHoldsPerGroup = 65_536;
/** Holds that one call to an owner may renew: they fit into one batch of the log. */
export const mostHoldsPerCall = 16_384;
/** Seven LEB128 bytes hold 49 bits, so the eighth may add four more to reach 2^53 - 1. */
const lastByteShift = 49;
const lastByteMax = 0x0f;

/** Packs groups. No groups give no bytes. A group that breaks the layout's bounds is the caller's mistake and throws. */
export function encodeRenewals(groups: readonly RenewalGroup[]): Uint8Array {
  if (groups.length === 0) return new Uint8Array(0);
  let size = 1;
  for (const group of groups) size += sizeOfGroup(group);
  const bytes = new Uint8Array(size);
  bytes[0] = renewalLayout;
  let offset = 1;
  for (const { partition, sendNumber, holdIds } of groups) {
    offset = writeNumber(bytes, offset, partition);
    offset = writeNumber(bytes, offset, sendNumber);
    offset = writeNumber(bytes, offset, holdIds.length);
    let previous = 0;
    for (const holdId of holdIds) {
      offset = writeNumber(bytes, offset, holdId - previous);
      previous = holdId;
    }
  }
  return bytes;
}

/** Unpacks groups; empty bytes are no groups. Anything that {@link encodeRenewals} could not have made is refused. */
export function decodeRenewals(bytes: Uint8Array): RenewalGroup[] {
  const groups: RenewalGroup[] = [];
  if (bytes.length === 0) return groups;
  if (bytes[0] !== renewalLayout) throw malformed(`layout version ${bytes[0]} is not ${renewalLayout}`, 0);
  const reader: Reader = { bytes, offset: 1 };
  while (reader.offset < bytes.length) groups.push(readGroup(reader));
  if (groups.length === 0) throw malformed("no group follows the version", 1);
  return groups;
}

interface Reader {
  readonly bytes: Uint8Array;
  offset: number;
}

function readGroup(reader: Reader): RenewalGroup {
  const start = reader.offset;
  const partition = readNumber(reader);
  if (partition > maxPartition) throw malformed(`partition ${partition} is over ${maxPartition}`, start);
  const sendNumber = readNumber(reader);
  const countOffset = reader.offset;
  const count = readNumber(reader);
  // Each hold takes at least a byte, so a count beyond what is left is refused before anything is allocated for it.
  if (count < 1 || count > mostHoldsPerGroup || count > reader.bytes.length - reader.offset) {
    throw malformed(`count ${count} is not 1 to ${mostHoldsPerGroup} or exceeds the bytes that follow`, countOffset);
  }
  const holdIds = new Array<number>(count);
  let holdId = readNumber(reader);
  holdIds[0] = holdId;
  for (let index = 1; index < count; index += 1) {
    const offset = reader.offset;
    const difference = readNumber(reader);
    if (difference < 1 || difference > Number.MAX_SAFE_INTEGER - holdId) {
      throw malformed("hold ids must ascend and stay below 2^53", offset);
    }
    holdId += difference;
    holdIds[index] = holdId;
  }
  return { partition, sendNumber, holdIds };
}

/** Reads one unsigned LEB128 number of at most 53 bits in its shortest form. */
function readNumber(reader: Reader): number {
  const { bytes } = reader;
  const start = reader.offset;
  let value = 0;
  let scale = 1;
  for (let shift = 0; shift <= lastByteShift; shift += 7) {
    const byte = bytes[reader.offset];
    if (byte === undefined) throw malformed("a number is cut off", start);
    reader.offset += 1;
    if (shift === lastByteShift && byte > lastByteMax) throw malformed("a number exceeds 2^53 - 1", start);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      if (byte === 0 && shift > 0) throw malformed("a number is not in its shortest form", start);
      return value;
    }
    scale *= 128;
  }
  throw malformed("a number exceeds 2^53 - 1", start);
}

function sizeOfGroup({ partition, sendNumber, holdIds }: RenewalGroup): number {
  requireBounds("partition", partition, maxPartition);
  requireBounds("send number", sendNumber, Number.MAX_SAFE_INTEGER);
  if (holdIds.length < 1) throw new RangeError("a renewal group must have at least one hold");
  requireBounds("number of holds", holdIds.length, mostHoldsPerGroup);
  let size = sizeOfNumber(partition) + sizeOfNumber(sendNumber) + sizeOfNumber(holdIds.length);
  let previous = -1;
  for (const holdId of holdIds) {
    requireBounds("hold id", holdId, Number.MAX_SAFE_INTEGER);
    if (holdId <= previous) throw new RangeError(`hold ids must ascend: ${holdId} follows ${previous}`);
    size += sizeOfNumber(previous === -1 ? holdId : holdId - previous);
    previous = holdId;
  }
  return size;
}

function sizeOfNumber(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

function writeNumber(bytes: Uint8Array, offset: number, value: number): number {
  let rest = value;
  let at = offset;
  while (rest >= 0x80) {
    bytes[at] = (rest % 128) + 0x80;
    rest = Math.floor(rest / 128);
    at += 1;
  }
  bytes[at] = rest;
  return at + 1;
}

function requireBounds(name: string, value: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= max) return;
  throw new RangeError(`${name} of a renewal group must be a whole number from 0 to ${max} (got ${value})`);
}

function malformed(what: string, offset: number): Fault {
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "MALFORMED_MESSAGE",
    message: `packed renewals are malformed at byte ${offset}: ${what}`,
    details: { applied: "NO" },
  });
}
