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
    const fields: Readonly<Record<string, unknown>> = { ...message };
    this.#take(fields["revision"]);
    for (const part of parts) this.#takeOf(fields[part]);
    const { grants } = fields;
    if (Array.isArray(grants)) for (const grant of grants) this.#takeOf(grant);
    this.#takeOf(fields["grant"]);
  }

  #takeOf(part: unknown): void {
    if (typeof part === "object" && part !== null && "revision" in part) this.#take(part.revision);
  }

  #take(revision: unknown): void {
    if (typeof revision === "bigint" && revision > this.#highest) this.#highest = revision;
  }
}
