/**
 * What a caller sends to the server of a running call: one byte of kind, six bytes of total grant (big endian), then
 * the call's id, which is the reply subject of its request.
 *
 * A grant is the number of items that the server may have sent since the stream began. It is a total, so a lost or
 * repeated one does no harm, and it doubles as the caller's sign of life.
 */
export type ControlFrame =
  | { readonly kind: "cancel"; readonly call: string }
  | { readonly kind: "grant"; readonly call: string; readonly total: number };

const cancelKind = 1;
const grantKind = 2;
const headBytes = 7;

/** The caller has given up on the call. */
export function encodeCancel(call: string): Uint8Array {
  return encode(cancelKind, 0, call);
}

/** The caller takes items up to `total`, and lives. */
export function encodeGrant(call: string, total: number): Uint8Array {
  return encode(grantKind, total, call);
}

function encode(kind: number, total: number, call: string): Uint8Array {
  const frame = Buffer.allocUnsafe(headBytes + Buffer.byteLength(call));
  frame[0] = kind;
  frame.writeUIntBE(total, 1, 6);
  frame.write(call, headBytes);
  return frame;
}

/** The frame in `bytes`, or `undefined` when they are none. */
export function decodeControlFrame(bytes: Uint8Array): ControlFrame | undefined {
  if (bytes.byteLength <= headBytes) return undefined;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const call = view.toString("utf8", headBytes);
  if (view[0] === cancelKind) return { kind: "cancel", call };
  if (view[0] === grantKind) return { kind: "grant", call, total: view.readUIntBE(1, 6) };
  return undefined;
}
