import { ChangeKind, LeaseServiceWatchRequest, WatchMarkKind } from "@tenure/contracts";
import { type Deployment, waitFor } from "@tenure/testkit";

/** How often each lease of a namespace was removed, as the log tells it. */
export class LeaseRemovals implements AsyncDisposable {
  readonly counts = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;
  #isSynced = false;

  constructor(deployment: Pick<Deployment, "leases">, namespace: string) {
    this.#reading = this.#read(deployment, LeaseServiceWatchRequest.fromPartial({ selectors: [{ namespace }] }));
  }

  /** Waits until every later removal is counted. */
  async synced(): Promise<this> {
    await waitFor(() => this.#isSynced, { timeoutMs: 20_000 });
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read({ leases }: Pick<Deployment, "leases">, request: LeaseServiceWatchRequest): Promise<void> {
    try {
      // A machine that stands still for a few seconds does not end the watch.
      const options = { signal: this.#stop.signal, beatMs: 10_000 };
      for await (const { events, position } of leases.watch(request, options)) {
        for (const { kind, lease } of events) {
          const name = lease?.key?.name ?? "";
          if (kind === ChangeKind.REMOVED) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
        }
        if (position?.mark?.kind === WatchMarkKind.SYNCED) this.#isSynced = true;
      }
    } catch (thrown) {
      if (!this.#stop.signal.aborted) throw thrown;
    }
  }
}
