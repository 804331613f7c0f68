const encoder = new TextEncoder();
const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

/**
 * A fixed 32-bit hash: FNV-1a over the text's UTF-8 bytes, then MurmurHash3's final mix, because the low bits of plain
 * FNV-1a spread short keys badly over a small number of partitions. It decides where records live, so it never changes.
 */
export function hash32(text: string): number {
  return endHash(addTextToHash(emptyHash, text));
}

/** The same hash of bytes. */
export function hashBytes(bytes: Uint8Array): number {
  return endHash(addBytes(emptyHash, bytes));
}

/** The same hash, piece by piece: begins with this, takes one piece after the other in, and is ended. */
export const emptyHash = fnvOffset;

/** Takes the bytes from `start` to `end` in. */
export function addToHash(hash: number, bytes: Uint8Array, start: number, end: number): number {
  let next = hash;
  for (let index = start; index < end; index += 1) next = Math.imul(next ^ (bytes[index] ?? 0), fnvPrime);
  return next;
}

/** Takes a text's UTF-8 bytes in. */
export function addTextToHash(hash: number, text: string): number {
  let next = hash;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) return addBytes(hash, encoder.encode(text));
    next = Math.imul(next ^ unit, fnvPrime);
  }
  return next;
}

function addBytes(hash: number, bytes: Uint8Array): number {
  return addToHash(hash, bytes, 0, bytes.length);
}

/** The hash of all pieces. */
export function endHash(hash: number): number {
  return mix(hash);
}

function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
