import { atEndOfTurn } from "@tenure/kernel";
import type { BusConnection } from "./bus-connection.ts";
import { mostPackedBytes, type PackedPart, partBytes } from "./packed-parts.ts";

interface Group<Part, Kind> {
  readonly kind: Kind;
  readonly parts: Part[];
  bytes: number;
}

/** Gathers the parts of one turn: those with the same key and kind are sent together, as many as fit into a message. */
export class PartsOfTurn<Part extends PackedPart, Kind = undefined> {
  readonly #connection: BusConnection;
  readonly #send: (key: string, parts: readonly Part[], kind: Kind) => void;
  readonly #open = new Map<string, Group<Part, Kind>>();
  #isScheduled = false;

  constructor(connection: BusConnection, send: (key: string, parts: readonly Part[], kind: Kind) => void) {
    this.#connection = connection;
    this.#send = send;
  }

  add(key: string, part: Part, kind: Kind): void {
    const bytes = partBytes(part);
    const group = this.#open.get(key);
    if (group !== undefined && group.kind === kind && group.bytes + bytes <= mostPackedBytes(this.#connection)) {
      group.parts.push(part);
      group.bytes += bytes;
    } else {
      if (group !== undefined) this.#close(key, group);
      this.#open.set(key, { kind, parts: [part], bytes });
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atEndOfTurn(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  /** Sends what waits for the end of the turn. */
  flush(): void {
    for (const [key, group] of this.#open) this.#close(key, group);
  }

  #close(key: string, { kind, parts }: Group<Part, Kind>): void {
    this.#open.delete(key);
    this.#send(key, parts, kind);
  }
}
