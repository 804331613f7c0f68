/** Parts of a response that carry the log position of what they show. */
const parts = ["page", "position", "lease", "candidate", "identity", "election", "migration"] as const;

/**
 * The highest log position that a client was shown. Its plain reads carry it as their floor, so they never go back,
 * whichever server answers them (rule 7).
 */
export class SeenRevision {
  #highest = 0n;

  get highest(): bigint {
    return this.#highest;
  }

  /** Takes note of what a response or the details of a refusal show. */
  note(message: object): void {
    // Read only: a copy of each response would cost more than all that is read of it.
    const fields = message as Readonly<Record<string, unknown>>;
    const { grant, grants, revision } = fields;
    this.#take(revision);
    for (const part of parts) this.#takeOf(fields[part]);
    this.#takeOf(grant);
    if (Array.isArray(grants)) for (const each of grants) this.#takeOf(each);
  }

  #takeOf(part: unknown): void {
    if (typeof part === "object" && part !== null && "revision" in part) this.#take(part.revision);
  }

  #take(revision: unknown): void {
    if (typeof revision === "bigint" && revision > this.#highest) this.#highest = revision;
  }
}
