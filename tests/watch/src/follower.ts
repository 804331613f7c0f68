import { ChangeKind, LeaseServiceWatchRequest, type LeaseServiceWatchResponse, WatchMarkKind } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { waitFor } from "@tenure/testkit";

/** How a watch is opened. */
export type Open = (request: LeaseServiceWatchRequest, signal: AbortSignal) => AsyncIterable<LeaseServiceWatchResponse>;

const longestTestMs = 600_000;

/** A watch of a namespace that resumes by itself, and notes all that it was told. */
export class Follower {
  /** Names in the order in which they were told as present or added. */
  readonly names: string[] = [];
  readonly revisions: bigint[] = [];
  readonly faults: string[] = [];
  syncs = 0;
  resyncs = 0;
  /** Events of other kinds. */
  others = 0;
  readonly #open: Open;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #resumeToken = new Uint8Array(0);

  constructor(open: Open, namespace: string) {
    this.#open = open;
    this.#namespace = namespace;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const isStopped = async () => {
      await this.#watch();
      return signal.aborted;
    };
    await waitFor(isStopped, { describe: "the test to stop its watch", timeoutMs: longestTestMs });
  }

  /** Watches until the watch ends, for whatever reason. */
  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    const options = { resumeToken: this.#resumeToken };
    const request = LeaseServiceWatchRequest.fromPartial({ selectors: [{ namespace: this.#namespace }], options });
    try {
      for await (const response of this.#open(request, signal)) this.#note(response);
    } catch (thrown) {
      if (!signal.aborted) this.faults.push(thrown instanceof Fault ? thrown.reason : String(thrown));
    }
  }

  #note({ events, position }: LeaseServiceWatchResponse): void {
    for (const { kind, lease, revision } of events) {
      this.revisions.push(revision);
      if (kind === ChangeKind.ADDED || kind === ChangeKind.PRESENT) this.names.push(lease?.key?.name ?? "");
      else this.others += 1;
    }
    if (position?.mark?.kind === WatchMarkKind.SYNCED) this.syncs += 1;
    if (position?.mark?.kind === WatchMarkKind.RESYNC) this.resyncs += 1;
    if ((position?.resumeToken.length ?? 0) > 0) this.#resumeToken = new Uint8Array(position?.resumeToken ?? []);
  }
}
