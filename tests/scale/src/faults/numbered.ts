import { systemClock } from "@tenure/kernel";
import { isTenureError, type Tenure } from "@tenure/sdk";

const namespace = "numbered";
const pauseMs = 20;

/** Changes a lease again and again, each change with the next number on it. */
export class NumberedWriter {
  /** The last number whose change was acknowledged. */
  last = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(tenure: Tenure, name: string) {
    this.#running = this.#run(tenure, { namespace, name });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(tenure: Tenure, lease: { readonly namespace: string; readonly name: string }): Promise<void> {
    let { revision } = await tenure.leases.create(lease);
    while (!this.#stop.signal.aborted) {
      const number = this.last + 1;
      try {
        const change = { expectedRevision: revision, spec: { labels: { number: `${number}` } }, fields: ["labels"] };
        revision = (await tenure.leases.update(lease, change, { timeout: "60s" })).revision;
        this.last = number;
      } catch (error) {
        if (!isTenureError(error) || !error.retryable) throw error;
      }
      await systemClock.sleep(pauseMs, this.#stop.signal).catch(() => undefined);
    }
  }
}

/** Follows that lease and notes the numbers that it is told, in the order in which it is told. */
export class NumberedWatcher {
  readonly numbers: number[] = [];
  /** How often the watch had to begin again with the present state. */
  restarts = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(tenure: Tenure, name: string) {
    this.#running = this.#run(tenure, name);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(tenure: Tenure, namePrefix: string): Promise<void> {
    for await (const news of tenure.leases.watch({ namespace, namePrefix }, { signal: this.#stop.signal })) {
      if (news.kind === "restart") this.restarts += 1;
      const number = news.kind === "event" ? news.event.lease?.spec?.labels.number : undefined;
      if (number !== undefined) this.numbers.push(Number(number));
    }
  }
}
