/**
 * What a server sends on a stream: one byte of kind, six bytes of message number (big endian, from 1, counting every
 * frame of the stream, so that a loss is seen at the next frame), then the body.
 *
 * - opened: the server's instance in ASCII; always the first.
 * - items: one or more of four bytes of length (big endian) and that many bytes of one item.
 * - beat, end: nothing.
 *
 * A failure is no frame: it is a message with the failure header, and needs no number because it ends the stream.
 */
export type StreamFrame =
  | { readonly kind: "opened"; readonly number: number; readonly instance: string }
  | { readonly kind: "items"; readonly number: number; readonly items: readonly Uint8Array[] }
  | { readonly kind: "beat"; readonly number: number }
  | { readonly kind: "end"; readonly number: number };

const openedKind = 1;
const itemsKind = 2;
const beatKind = 3;
const endKind = 4;

/** Bytes before the body of a frame. */
export const frameHeadBytes = 7;

/** Bytes before each item of an items frame. */
export const itemHeadBytes = 4;

function head(kind: number, number: number, bodyBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + bodyBytes);
  frame[0] = kind;
  frame.writeUIntBE(number, 1, 6);
  return frame;
}

/** The first frame: the call has reached `instance`. */
export function encodeOpened(number: number, instance: string): Uint8Array {
  const frame = head(openedKind, number, instance.length);
  frame.write(instance, frameHeadBytes, "latin1");
  return frame;
}

/** Several items in one message; `itemsBytes` is the sum of their lengths. */
export function encodeItems(number: number, items: readonly Uint8Array[], itemsBytes: number): Uint8Array {
  const frame = head(itemsKind, number, itemsBytes + items.length * itemHeadBytes);
  let offset = frameHeadBytes;
  for (const item of items) {
    frame.writeUInt32BE(item.byteLength, offset);
    frame.set(item, offset + itemHeadBytes);
    offset += itemHeadBytes + item.byteLength;
  }
  return frame;
}

/** A sign of life. */
export function encodeBeat(number: number): Uint8Array {
  return head(beatKind, number, 0);
}

/** The stream has ended well. */
export function encodeEnd(number: number): Uint8Array {
  return head(endKind, number, 0);
}

/** The frame in `bytes`, or `undefined` when they are none. Items are views into `bytes`. */
export function decodeStreamFrame(bytes: Uint8Array): StreamFrame | undefined {
  if (bytes.byteLength < frameHeadBytes) return undefined;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = view.readUIntBE(1, 6);
  const isBare = view.byteLength === frameHeadBytes;
  switch (view[0]) {
    case openedKind:
      return { kind: "opened", number, instance: view.toString("latin1", frameHeadBytes) };
    case itemsKind: {
      const items = decodeItems(view);
      return items === undefined ? undefined : { kind: "items", number, items };
    }
    case beatKind:
      return isBare ? { kind: "beat", number } : undefined;
    case endKind:
      return isBare ? { kind: "end", number } : undefined;
    default:
      return undefined;
  }
}

function decodeItems(view: Buffer): Uint8Array[] | undefined {
  const items: Uint8Array[] = [];
  let offset = frameHeadBytes;
  while (offset < view.byteLength) {
    if (offset + itemHeadBytes > view.byteLength) return undefined;
    const end = offset + itemHeadBytes + view.readUInt32BE(offset);
    if (end > view.byteLength) return undefined;
    items.push(view.subarray(offset + itemHeadBytes, end));
    offset = end;
  }
  return items.length === 0 ? undefined : items;
}
