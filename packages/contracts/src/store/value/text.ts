/** How many texts are remembered; what a deployment's principals and instances need, and a bound for anything else. */
const mostTexts = 4_096;
const texts = new Map<string, string>();

/**
 * The same text, as one object for all records that have it. Principals and authors stand in every record, and a
 * decoded text is otherwise a copy of its own.
 */
export function shareText(text: string): string {
  if (text === "") return text;
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= mostTexts) texts.clear();
  texts.set(text, text);
  return text;
}

const noBytes = new Uint8Array(0);

/** Bytes of hexadecimal text, up to the first digit that is none; empty for none. */
export function bytesOfHex(hex: string | undefined): Uint8Array {
  if (hex === undefined || hex === "") return noBytes;
  // By hand, because they are short and many: what reads any text costs more to ask than the work is.
  const bytes = new Uint8Array(hex.length >> 1);
  for (let place = 0; place < bytes.length; place += 1) {
    const byte = digitOf(hex.charCodeAt(2 * place)) * 16 + digitOf(hex.charCodeAt(2 * place + 1));
    if (!(byte >= 0)) return bytes.subarray(0, place);
    bytes[place] = byte;
  }
  return bytes;
}

function digitOf(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48;
  const letter = unit | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : Number.NaN;
}

/** Hexadecimal text of bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/**
 * Bytes of their own. Decoded bytes are a view of the whole message, which a record that kept them would keep alive.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
