import { bytesOfHex } from "./text.ts";

const batchIdBytes = 16;
const none = new Uint8Array(0);

/** The id of a batch, 32 hexadecimal digits, as bytes; an empty one, which is no batch's, as none. */
export function batchIdToWire(batchId: string): Uint8Array {
  if (batchId === "") return none;
  const bytes = bytesOfHex(batchId);
  if (bytes.length === batchIdBytes) return bytes;
  throw new Error(`batch id ${JSON.stringify(batchId)} must be 32 hexadecimal digits`);
}
