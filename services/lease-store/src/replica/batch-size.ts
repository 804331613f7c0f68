import type { Event } from "@tenure/core";

/** Counts what the events of an open batch take in the log, each once. */
export class BatchSize {
  readonly #events: readonly Event[];
  #counted = 0;
  #bytes = 0;

  constructor(events: readonly Event[]) {
    this.#events = events;
  }

  /** An upper bound of what the batch takes now. */
  get bytes(): number {
    for (; this.#counted < this.#events.length; this.#counted += 1) {
      const event = this.#events[this.#counted];
      if (event !== undefined) this.#bytes += eventBytes(event);
    }
    return this.#bytes;
  }
}

/** What a field costs at most beside its content: tag, length, and the bytes of a number. */
const fieldBytes = 12;

/**
 * An upper bound, to within a few bytes, of what an event takes in the log. Text counts three bytes a character and
 * every field its overhead, so that a batch that is full by this measure is never too large for the log.
 */
export function eventBytes(event: Event): number {
  const causeBytes = plainBytes + (event.author.length + event.reason.length) * 3;
  switch (event.kind) {
    case "renewed":
      return fieldBytes + event.holdIds.length * 9;
    // What most of a log is made of, without a walk through all of its fields.
    case "holdGranted": {
      const { details, holder, holderKey, principal } = event.hold;
      const textLength = event.lease.length + holder.length + holderKey.length + principal.length;
      return causeBytes + textLength * 3 + (details === undefined ? 0 : valueBytes(details));
    }
    case "holdEnded":
      return causeBytes + (event.lease.length + event.successor.length) * 3;
    case "attemptRecorded":
      return causeBytes + event.client.length * 3 + valueBytes(event.outcome);
    default:
      return valueBytes(event);
  }
}

/** What the fields of a term's beginning, its end or an attempt cost at most beside texts: there are no more than 32. */
const plainBytes = 32 * fieldBytes;

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
