import { WatchPosition } from "@tenure/contracts";

/** Field numbers of `events` and `position`, the same in every watch response, as tags of length-delimited fields. */
const eventsTag = 0x0a;
const positionTag = 0x12;

/** The bytes of a watch response: encoded events, and where the watch stands after them. */
export function encodeWatchResponse(events: readonly Uint8Array[], position: WatchPosition): Uint8Array {
  const place = WatchPosition.encode(position).finish();
  let length = fieldBytes(place.length);
  for (const event of events) length += fieldBytes(event.length);
  const response = new Uint8Array(length);
  let offset = 0;
  for (const event of events) offset = writeField(response, offset, eventsTag, event);
  writeField(response, offset, positionTag, place);
  return response;
}

function fieldBytes(length: number): number {
  let bytes = 2 + length;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

function writeField(into: Uint8Array, from: number, tag: number, value: Uint8Array): number {
  let offset = from;
  into[offset++] = tag;
  let rest = value.length;
  for (; rest > 0x7f; rest >>>= 7) into[offset++] = (rest & 0x7f) | 0x80;
  into[offset++] = rest;
  into.set(value, offset);
  return offset + value.length;
}
