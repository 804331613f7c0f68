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

/** Bytes of hexadecimal text; empty for none. */
export function bytesOfHex(hex: string | undefined): Uint8Array {
  return hex === undefined || hex === "" ? noBytes : Buffer.from(hex, "hex");
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
