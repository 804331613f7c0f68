import {
  IdentityChange,
  type IdentityEvent,
  IdentityServiceWatchRequest,
  type IdentityServiceWatchResponse,
  WatchMarkKind,
} from "@tenure/contracts";
import { type Deployment, waitFor } from "@tenure/testkit";

/** What a watch of identities told, in order. */
export class Watcher implements AsyncDisposable {
  readonly events: IdentityEvent[] = [];
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;
  #isSynced = false;

  constructor(
    deployment: Pick<Deployment, "identities">,
    request: Parameters<typeof IdentityServiceWatchRequest.fromPartial>[0] = {},
  ) {
    this.#reading = this.#read(deployment, IdentityServiceWatchRequest.fromPartial(request));
  }

  /** Waits until the present state has been told. */
  async synced(): Promise<this> {
    await waitFor(() => this.#isSynced, { timeoutMs: 20_000 });
    return this;
  }

  /** What was told of one identity, as words. */
  of(id: string): readonly string[] {
    return this.events.filter(({ identity }) => identity?.id === id).map(({ change }) => nameOf(change));
  }

  /** Waits until an identity was told to have changed so. */
  async told(id: string, change: keyof typeof IdentityChange, timeoutMs = 30_000): Promise<void> {
    const describe = `${id} to be ${change}`;
    await waitFor(() => this.of(id).includes(change), { timeoutMs, describe }).catch((thrown) => {
      throw new Error(`${describe}: was told ${this.of(id).join(", ")}`, { cause: thrown });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read({ identities }: Pick<Deployment, "identities">, request: IdentityServiceWatchRequest): Promise<void> {
    try {
      // A machine that stands still for a few seconds does not end the watch, which could not be resumed.
      const options = { signal: this.#stop.signal, principal: "test", beatMs: 10_000 };
      for await (const response of identities.watch(request, options)) {
        const { events, position }: IdentityServiceWatchResponse = response;
        this.events.push(...events);
        if (position?.mark?.kind === WatchMarkKind.SYNCED) this.#isSynced = true;
      }
    } catch (thrown) {
      if (!this.#stop.signal.aborted) this.events.push({ change: 0, identity: undefined, revision: 0n });
      if (!this.#stop.signal.aborted) throw thrown;
    }
  }
}

function nameOf(change: IdentityChange): string {
  return Object.entries(IdentityChange).find(([, value]) => value === change)?.[0] ?? "?";
}
