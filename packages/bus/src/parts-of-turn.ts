import { atEndOfTurn } from "@tenure/kernel";
import { mostPackedBytes, type PackedPart, partBytes } from "./packed-parts.ts";

interface Group<Part, Kind> {
  readonly kind: Kind;
  readonly parts: Part[];
  bytes: number;
}

/**
 * Gathers the parts of one turn: those with the same key and of kinds that go together are sent together, as many as fit
 * into a message. Those with the same key stay in their order.
 */
export class PartsOfTurn<Part extends PackedPart, Kind = undefined> {
  readonly #connection: { readonly maxPayloadBytes: number };
  readonly #send: (key: string, parts: readonly Part[], kind: Kind) => void;
  readonly #joins: (group: Kind, kind: Kind) => boolean;
  #open = new Map<string, Group<Part, Kind>>();
  #isScheduled = false;

  /** `joins` says whether one of a kind goes with a group, whose kind it then changes into that of both. */
  constructor(
    connection: { readonly maxPayloadBytes: number },
    send: (key: string, parts: readonly Part[], kind: Kind) => void,
    joins: (group: Kind, kind: Kind) => boolean = Object.is,
  ) {
    this.#connection = connection;
    this.#send = send;
    this.#joins = joins;
  }

  add(key: string, part: Part, kind: Kind): void {
    const bytes = partBytes(part);
    const group = this.#open.get(key);
    const isFitting = group !== undefined && group.bytes + bytes <= mostPackedBytes(this.#connection);
    if (isFitting && this.#joins(group.kind, kind)) {
      group.parts.push(part);
      group.bytes += bytes;
      return;
    }
    this.#open.set(key, { kind, parts: [part], bytes });
    this.#schedule();
    // Last: whoever is told that it could not be sent may add more.
    if (group !== undefined) this.#send(key, group.parts, group.kind);
  }

  /** Sends what waits for the end of the turn. */
  flush(): void {
    if (this.#open.size === 0) return;
    const open = this.#open;
    // A map for each turn: one that is used again and again grows old, and what was ever in it grows old with it.
    this.#open = new Map();
    for (const [key, { kind, parts }] of open) this.#send(key, parts, kind);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atEndOfTurn(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }
}
