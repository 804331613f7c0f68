import { GuardServicePutRequest } from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import { type ConnectOptions, connect, isTenureError, type Tenure, type Term } from "@tenure/sdk";
import type { LivedTerm, Oracle } from "./oracle.ts";

/** How a contender behaves. */
export interface ContenderOptions {
  readonly name: string;
  readonly namespace: string;
  readonly lease: string;
  readonly oracle: Oracle;
  /** Steps down after so long in each term; never by itself if absent. */
  readonly stepDownAfterMs?: number;
}

/** Pause between two guarded writes of a leader. */
const pauseMs = 20;

/** A client that leads whenever it may, and shows the oracle everything it does. */
export class Contender implements AsyncDisposable {
  readonly tenure: Tenure;
  readonly terms: Term[] = [];
  readonly #options: ContenderOptions;
  readonly #stop = new AbortController();
  readonly #leading: Promise<void>;

  private constructor(tenure: Tenure, options: ContenderOptions) {
    this.tenure = tenure;
    this.#options = options;
    this.#leading = tenure.lead(options.lease, { signal: this.#stop.signal }, (term) => this.#lead(term));
  }

  static async start(reach: ConnectOptions, options: ContenderOptions): Promise<Contender> {
    const { name: identity, namespace } = options;
    const tenure = await connect({ identity, namespace, connectTimeout: "60s", callTimeout: "30s", ...reach });
    return new Contender(tenure, options);
  }

  /** Renewals of its terms that were proven. */
  get renewals(): number {
    return this.tenure.metrics.of(`${this.#options.namespace}/${this.#options.lease}`).renewals;
  }

  /** Gives the lease up for good. */
  async retire(): Promise<void> {
    this.#stop.abort();
    await this.#leading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.retire();
    await this.tenure.close();
  }

  async #lead(term: Term): Promise<void> {
    const { name, oracle, stepDownAfterMs } = this.#options;
    this.terms.push(term);
    term.check();
    const lived = oracle.began(name, term.token, systemClock.now());
    while (!term.signal.aborted) {
      await this.#act(term, lived);
      const ageMs = systemClock.now() - lived.beganAtMs;
      if (stepDownAfterMs !== undefined && ageMs > stepDownAfterMs) term.stepDown("it is another's turn");
      else await systemClock.sleep(pauseMs, term.signal).catch(() => undefined);
    }
    // Outlives its term, so that the store has something to refuse.
    void this.#writeLate(term.token);
  }

  async #act(term: Term, lived: LivedTerm): Promise<void> {
    try {
      const atMs = systemClock.now();
      term.check();
      lived.lastActAtMs = atMs;
      this.#options.oracle.wrote(term.token, await term.guard.put("last", this.#options.name, { signal: term.signal }));
    } catch (error) {
      // An outage shows in writes before it shows in the term; only what is no outage is a failure of the test.
      if (!isTenureError(error)) throw error;
    }
  }

  /** Writes with the token of a term that is over, past everything that would stop an SDK from doing so. */
  async #writeLate(token: bigint): Promise<void> {
    const { lease, namespace, oracle } = this.#options;
    const { renewKey } = this.tenure.session;
    // Whoever follows has written by then, or this write still comes first.
    await systemClock.sleep(pauseMs * 10);
    try {
      const { revision } = await this.tenure.session.change("GuardService.Put", (attempt) =>
        GuardServicePutRequest.fromPartial({
          attempt,
          fence: { lease: { namespace, name: lease }, token, renewKey },
          key: "last",
          value: Buffer.from("late"),
        }),
      );
      oracle.wrote(token, revision);
    } catch (error) {
      if (isTenureError(error)) oracle.refused(error.reason);
    }
  }
}
