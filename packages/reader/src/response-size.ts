/** Records, and about how many bytes, of one response: well below what a message may have. */
const fullResponse = { records: 500, bytes: 262_144 };

/** Events of one response. */
export interface GatheredEvents {
  readonly events: readonly Uint8Array[];
  /** How many events this response and those before it have. */
  readonly upTo: number;
}

/** Encodes events into responses that are not too large, each when it is asked for. */
export function* gatherResponses(events: readonly (() => Uint8Array)[]): Generator<GatheredEvents, void, undefined> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for (const [index, encode] of events.entries()) {
    const event = encode();
    const isFull = gathered.length >= fullResponse.records || bytes + event.length > fullResponse.bytes;
    if (gathered.length > 0 && isFull) {
      yield { events: gathered, upTo: index };
      gathered = [];
      bytes = 0;
    }
    gathered.push(event);
    bytes += event.length;
  }
  if (gathered.length > 0) yield { events: gathered, upTo: events.length };
}
