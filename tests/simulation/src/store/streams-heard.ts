import type { CandidateKey, CandidateLiveness } from "@tenure/contracts";
import { leaseKey } from "@tenure/core";

/** What one coordinator has heard of live streams, kept apart from the code that is judged by it (rule 19). */
export class StreamsHeard {
  readonly #newest = new Map<string, bigint>();
  readonly #beatAtMs = new Map<string, number>();
  /** Which stream a candidate is on. */
  readonly #streams = new Map<string, string>();

  hear({ beating, closed, instance, live, sequence, stream }: CandidateLiveness, now: number): void {
    if (sequence <= (this.#newest.get(instance) ?? 0n)) return;
    this.#newest.set(instance, sequence);
    for (const key of closed) {
      if (this.#streams.get(textOf(key))?.startsWith(`${instance}/`)) this.#streams.delete(textOf(key));
    }
    for (const key of live) this.#streams.set(textOf(key), `${instance}/${stream}`);
    const numbers = live.length > 0 ? [...beating, stream] : beating;
    for (const number of numbers) this.#beatAtMs.set(`${instance}/${number}`, now);
  }

  /** The last beat of a candidate's stream; undefined if it is on none. */
  beatAtMs(lease: string, candidate: string): number | undefined {
    return this.#beatAtMs.get(this.#streams.get(`${lease}#${candidate}`) ?? "");
  }
}

function textOf({ lease, name }: CandidateKey): string {
  return `${leaseKey(lease?.namespace ?? "", lease?.name ?? "")}#${name}`;
}
