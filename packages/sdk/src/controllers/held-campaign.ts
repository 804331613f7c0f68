import type { ClientContext } from "../instance/client-context.ts";
import { campaign, type PlannedCampaign } from "../lead/campaign.ts";
import type { HeldTerm } from "../term/held-term.ts";

/**
 * A campaign that goes on until it is stopped, its terms used by a function one after the other. Its end has two steps:
 * quiet when the function has returned, which is when others may act, and finished when the release was answered or
 * given up. Who holds a lock for others waits for the first only: an answer may come later than the lock's own deadline.
 */
export class HeldCampaign {
  /** Resolves when nothing is left of it; rejects when the function failed or the claim can never succeed. */
  readonly finished: Promise<void>;
  readonly #stop = new AbortController();
  #quiet: Promise<unknown> = Promise.resolve();

  constructor(context: ClientContext, plan: PlannedCampaign, use: (term: HeldTerm) => Promise<void>) {
    this.finished = this.#run(context, plan, use);
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Resolves when the function does not run; once stopped it never runs again. */
  get quiet(): Promise<unknown> {
    return this.#quiet;
  }

  /** Asks the running term to finish and claims no more. */
  stop(): void {
    this.#stop.abort();
  }

  async #run(context: ClientContext, plan: PlannedCampaign, use: (term: HeldTerm) => Promise<void>): Promise<void> {
    for await (const term of campaign(context, plan, this.#stop.signal)) {
      if (term.signal.aborted) continue;
      const using = use(term);
      this.#quiet = using.catch(() => undefined);
      await using;
    }
  }
}
