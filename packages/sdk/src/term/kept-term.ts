import type { TermEndReason } from "@tenure/contracts";
import type { TenureError } from "../errors.ts";
import type { LeaseMetrics } from "../metrics/client-metrics.ts";
import type { EndOfTermMark, KeepListener } from "../session/session.ts";
import { endOfNews, eventOfRefusal } from "./refusal.ts";
import type { TermEvent } from "./term-state.ts";

/** What the session tells of a term that it keeps, as events of the term. */
export class KeptTerm implements KeepListener {
  readonly #metrics: LeaseMetrics;
  readonly #take: (event: TermEvent) => void;

  constructor(metrics: LeaseMetrics, take: (event: TermEvent) => void) {
    this.#metrics = metrics;
    this.#take = take;
  }

  onRenewed(sentAtMs: number): void {
    this.#metrics.renewals += 1;
    this.#take({ kind: "renewed", sentAtMs });
  }

  onMissed(error: TenureError): void {
    this.#metrics.renewalsMissed += 1;
    this.#take({ kind: "missed", error });
  }

  onRefused(error: TenureError): void {
    this.#take(eventOfRefusal(error));
  }

  onEndOfTerm({ successor, cleared, reason }: EndOfTermMark): void {
    if (!cleared) this.#take({ kind: "asked", end: { kind: "end-of-term", successor, note: reason } });
  }

  onEnded(reason: TermEndReason, note: string): void {
    this.#take({ kind: "ended", end: endOfNews(reason, note) });
  }
}
