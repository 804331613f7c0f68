import type { ByteSpan } from "@tenure/core";
import { Fault } from "@tenure/kernel";

/**
 * Reading and replacing single fields of an encoded message. A call is forwarded as the bytes it came in; only its key,
 * its attempt and its wait are looked at, and fields that a newer client sent pass through.
 */

/** The wire type of texts, bytes and messages. */
const lengthDelimited = 2;

/** One place in a message while it is read. */
interface Cursor {
  readonly bytes: Uint8Array;
  offset: number;
}

/**
 * Where the content of the first field with this number is, if it is a text, bytes or a message: in the message that
 * stands from `start` to `end`.
 */
export function wireSpan(
  bytes: Uint8Array,
  number: number,
  { start, end }: ByteSpan = { start: 0, end: bytes.length },
): ByteSpan | undefined {
  const cursor: Cursor = { bytes, offset: start };
  while (cursor.offset < end) {
    const tag = readNumber(cursor);
    const size = sizeOfValue(cursor, tag & 7);
    const valueEnd = cursor.offset + size;
    if (valueEnd > end) throw malformedRequest();
    if (Math.floor(tag / 8) === number && (tag & 7) === lengthDelimited) return { start: cursor.offset, end: valueEnd };
    cursor.offset = valueEnd;
  }
  return undefined;
}

/** Where the content at the end of a path of field numbers is, each the first of its number. */
export function wirePathSpan(bytes: Uint8Array, path: readonly number[]): ByteSpan | undefined {
  let span: ByteSpan | undefined = { start: 0, end: bytes.length };
  for (const number of path) {
    if (span === undefined) return undefined;
    span = wireSpan(bytes, number, span);
  }
  return span;
}

/** The content of the first field with this number, if it is a text, bytes or a message; undefined if there is none. */
export function wireField(bytes: Uint8Array, number: number): Uint8Array | undefined {
  const span = wireSpan(bytes, number);
  return span && bytes.subarray(span.start, span.end);
}

/** The content at the end of a path of field numbers, each the first of its number. */
export function wirePath(bytes: Uint8Array, path: readonly number[]): Uint8Array | undefined {
  const span = wirePathSpan(bytes, path);
  return span && bytes.subarray(span.start, span.end);
}

/** The message with every field of this number taken out and `content` added as the one field `number`. */
export function withWireField(bytes: Uint8Array, number: number, content: Uint8Array): Uint8Array {
  return concat([withoutWireFields(bytes, [number]), fieldHead(number, content.length), content]);
}

/** The message without the fields of these numbers. */
export function withoutWireFields(bytes: Uint8Array, numbers: readonly number[]): Uint8Array {
  const cursor: Cursor = { bytes, offset: 0 };
  const kept: Uint8Array[] = [];
  while (cursor.offset < bytes.length) {
    const start = cursor.offset;
    const tag = readNumber(cursor);
    const size = sizeOfValue(cursor, tag & 7);
    cursor.offset += size;
    if (!numbers.includes(Math.floor(tag / 8))) kept.push(bytes.subarray(start, cursor.offset));
  }
  return concat(kept);
}

/** The parts one after the other. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

function fieldHead(number: number, length: number): Uint8Array {
  const head: number[] = [];
  for (const value of [number * 8 + lengthDelimited, length]) {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) head.push((rest % 128) + 0x80);
    head.push(rest);
  }
  return Uint8Array.from(head);
}

/** The bytes that the value at the cursor takes; for a text, bytes or message the cursor moves past its length. */
function sizeOfValue(cursor: Cursor, wireType: number): number {
  const { bytes } = cursor;
  let size: number;
  if (wireType === lengthDelimited) size = readNumber(cursor);
  else if (wireType === 0) size = sizeOfNumber(cursor);
  else if (wireType === 1) size = 8;
  else if (wireType === 5) size = 4;
  else throw malformedRequest();
  if (cursor.offset + size > bytes.length) throw malformedRequest();
  return size;
}

function sizeOfNumber({ bytes, offset }: Cursor): number {
  for (let size = 1; size <= 10; size += 1) {
    const byte = bytes[offset + size - 1];
    if (byte === undefined) break;
    if (byte < 0x80) return size;
  }
  throw malformedRequest();
}

function readNumber(cursor: Cursor): number {
  const size = sizeOfNumber(cursor);
  let value = 0;
  for (let index = size - 1; index >= 0; index -= 1) {
    value = value * 128 + ((cursor.bytes[cursor.offset + index] ?? 0) & 0x7f);
  }
  cursor.offset += size;
  return value;
}

/** The fault of a request that is no message of its kind. */
export function malformedRequest(cause?: unknown): Fault {
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "MALFORMED_MESSAGE",
    message: "the bytes of the request are no message",
    details: { applied: "NO" },
    cause,
  });
}
