import type { Event } from "@tenure/core";

/** What a field costs at most beside its content: tag, length, and the bytes of a number. */
const fieldBytes = 12;

/**
 * An upper bound, to within a few bytes, of what an event takes in the log. Text counts three bytes a character and
 * every field its overhead, so that a batch that is full by this measure is never too large for the log.
 */
export function eventBytes(event: Event): number {
  if (event.kind === "renewed") return fieldBytes + event.holdIds.length * 9;
  return valueBytes(event);
}

function valueBytes(value: unknown): number {
  if (typeof value === "string") return fieldBytes + value.length * 3;
  if (typeof value !== "object" || value === null) return fieldBytes;
  if (value instanceof Uint8Array) return fieldBytes + value.length;
  let bytes = fieldBytes;
  if (Array.isArray(value)) {
    for (const part of value) bytes += valueBytes(part);
    return bytes;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  // Names of map entries are content, names of fields are tags; both counted as content errs on the safe side.
  for (const key in fields) bytes += key.length + valueBytes(fields[key]);
  return bytes;
}
