/**
 * Several calls, or several answers, in one message. Each part is six bytes of the call's number and one of the label's
 * length (big endian), the label in ASCII, four bytes of length and that many of payload.
 */
export interface PackedPart {
  /** The number that ends the call's reply subject. */
  readonly number: number;
  /** Of a call its method's name; of an answer nothing, or {@link failureLabel}. */
  readonly label: string;
  readonly payload: Uint8Array;
}

/** Marks an answer whose payload is an encoded Failure. */
export const failureLabel = "!";

/** What a part takes beside its label and its payload. */
const partHeadBytes = 11;

/** The bytes that a part takes. */
export function partBytes({ label, payload }: PackedPart): number {
  return partHeadBytes + label.length + payload.byteLength;
}

/** Parts of one message have at most this many bytes together; a larger one goes alone. The headers fit beside them. */
export function mostPackedBytes({ maxPayloadBytes }: { readonly maxPayloadBytes: number }): number {
  return Math.min(65_536, maxPayloadBytes / 2);
}

/** The parts one after the other. */
export function packParts(parts: readonly PackedPart[]): Uint8Array {
  let size = 0;
  for (const part of parts) size += partBytes(part);
  const packed = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const { label, number, payload } of parts) {
    packed.writeUIntBE(number, offset, 6);
    packed[offset + 6] = label.length;
    packed.write(label, offset + 7, "latin1");
    offset += 7 + label.length;
    packed.writeUInt32BE(payload.byteLength, offset);
    packed.set(payload, offset + 4);
    offset += 4 + payload.byteLength;
  }
  return packed;
}

function isAt(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let place = 0; place < text.length; place += 1) if (bytes[from + place] !== text.charCodeAt(place)) return false;
  return true;
}

/** The parts of a message; their payloads are views into it. Throws a RangeError when it ends within a part. */
export function unpackParts(bytes: Uint8Array): PackedPart[] {
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: PackedPart[] = [];
  let label = "";
  for (let offset = 0; offset < packed.byteLength; ) {
    const number = packed.readUIntBE(offset, 6);
    const labelEnd = offset + 7 + packed.readUInt8(offset + 6);
    // Mostly it is that of the part before, and comparing costs less than making a text.
    if (!isAt(packed, offset + 7, labelEnd, label)) label = packed.toString("latin1", offset + 7, labelEnd);
    const end = labelEnd + 4 + packed.readUInt32BE(labelEnd);
    if (end > packed.byteLength) throw new RangeError(`a part of ${end - offset} bytes is cut off`);
    parts.push({ number, label, payload: packed.subarray(labelEnd + 4, end) });
    offset = end;
  }
  return parts;
}
