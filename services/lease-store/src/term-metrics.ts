import { holdOrigins, termEndReasons } from "@tenure/contracts";
import { type Event, type HoldOrigin, isOfSystem, type TermEndReason } from "@tenure/core";
import { Counter, type Registry } from "prom-client";

/**
 * Terms that this owner began and ended, by how and why. The system's own leases do not count: identities begin and end
 * with processes, which says nothing about leaders. Counted in plain numbers, because every grant passes here.
 */
export class TermMetrics {
  // Each word is there from the start: a series that appears with its first event hides that event from every rate.
  readonly #begun = zeroes<HoldOrigin>(holdOrigins.toWire);
  readonly #ended = zeroes<TermEndReason>(termEndReasons.toWire);

  constructor(registry: Registry) {
    show(registry, "tenure_terms_begun_total", "Terms that began, by how.", "origin", this.#begun);
    show(registry, "tenure_terms_ended_total", "Terms that ended, by why.", "reason", this.#ended);
  }

  /** These facts were committed. */
  note(events: readonly Event[]): void {
    for (const event of events) {
      if (event.kind === "holdGranted" && !isOfSystem(event.lease)) this.#begun[event.hold.origin] += 1;
      else if (event.kind === "holdEnded" && !isOfSystem(event.lease)) this.#ended[event.endReason] += 1;
    }
  }
}

function zeroes<Word extends string>(words: Readonly<Record<Word, unknown>>): Record<Word, number> {
  return Object.fromEntries(Object.keys(words).map((word) => [word, 0])) as Record<Word, number>;
}

function show(registry: Registry, name: string, help: string, label: string, counts: Record<string, number>): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [word, count] of Object.entries(counts)) this.inc({ [label]: word }, count);
    },
  });
}
