import { type Bus, type Client, createClient } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  CandidateServiceWatchRequest,
  ChangeKind,
  LeaseServiceDefinition,
  LeaseServiceWatchRequest,
  type SessionPush,
  WatchMarkKind,
  type WatchPosition,
} from "@tenure/contracts";
import { type LeaseKey, nameOf, namespaceOf } from "@tenure/core";
import { Backoff, type Clock, type Random } from "@tenure/kernel";
import { candidatePushes, leasePushes } from "./lease-push.ts";

/** What news stand on. */
export interface BusNewsOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly principal: string;
}

/** Leases whose news are heard at once; a client of more learns the rest from the answers to its renewals. */
const mostFollowed = 100;
const retryBackoff = { firstMs: 100, limitMs: 5_000 };

type Listener = (push: SessionPush) => void;
type OnRunning = (tokens: ReadonlySet<bigint>) => void;

/** One response of a watch, as far as news need it. */
interface Watched {
  readonly pushes: readonly SessionPush[];
  readonly position: WatchPosition | undefined;
}

/** News of leases by watching them on the bus, for clients without a gateway. */
export class BusNews {
  readonly #options: BusNewsOptions;
  readonly #leases: Client<typeof LeaseServiceDefinition>;
  readonly #candidates: Client<typeof CandidateServiceDefinition>;
  #followed = 0;

  constructor(options: BusNewsOptions) {
    const { bus, principal } = options;
    this.#options = options;
    this.#leases = createClient(bus, LeaseServiceDefinition, { principal });
    this.#candidates = createClient(bus, CandidateServiceDefinition, { principal });
  }

  /**
   * Tells a listener what happens to the holders and candidates of a lease, and which terms run when that begins; returns
   * what ends it.
   */
  follow(lease: LeaseKey, listener: Listener, onRunning: OnRunning): () => void {
    if (this.#followed >= mostFollowed) return () => {};
    this.#followed += 1;
    const stop = new AbortController();
    const selector = { namespace: namespaceOf(lease), name: nameOf(lease) };
    void this.#run(stop.signal, listener, (token) => this.#watchLease(selector, token, stop.signal, onRunning));
    void this.#run(stop.signal, listener, (token) => this.#watchCandidates(selector, token, stop.signal));
    return () => {
      if (stop.signal.aborted) return;
      this.#followed -= 1;
      stop.abort();
    };
  }

  /** Watches until stopped, and goes on where it was after every break. */
  async #run(
    signal: AbortSignal,
    listener: Listener,
    watch: (token: Uint8Array) => AsyncIterable<Watched>,
  ): Promise<void> {
    const { clock, random } = this.#options;
    const backoff = new Backoff(retryBackoff, random);
    let resumeToken = new Uint8Array(0);
    while (!signal.aborted) {
      try {
        for await (const { position, pushes } of watch(resumeToken)) {
          backoff.reset();
          if (position !== undefined && position.resumeToken.length > 0)
            resumeToken = new Uint8Array(position.resumeToken);
          for (const push of pushes) listener(push);
        }
      } catch {
        // News are told at most once and the records say the same; what matters is to hear the next.
      }
      await clock.sleep(backoff.next(), signal).catch(() => {});
    }
  }

  async *#watchLease(
    selector: Selector,
    resumeToken: Uint8Array,
    signal: AbortSignal,
    onRunning: OnRunning,
  ): AsyncGenerator<Watched> {
    const request = LeaseServiceWatchRequest.create({ selectors: [selector], options: { resumeToken } });
    let isTold = resumeToken.length > 0;
    for await (const { events, position } of this.#leases.watch(request, { signal })) {
      for (const { kind, lease } of events) {
        if (kind !== ChangeKind.PRESENT) continue;
        isTold = true;
        onRunning(new Set(lease?.holds.map(({ token }) => token)));
      }
      if (!isTold && position?.mark?.kind === WatchMarkKind.SYNCED) {
        isTold = true;
        onRunning(noTerms); // There is no such lease.
      }
      yield { pushes: events.flatMap(leasePushes), position };
    }
  }

  async *#watchCandidates(selector: Selector, resumeToken: Uint8Array, signal: AbortSignal): AsyncGenerator<Watched> {
    const options = { resumeToken, changesOnly: true };
    const request = CandidateServiceWatchRequest.create({ selectors: [{ lease: selector }], options });
    for await (const { events, position } of this.#candidates.watch(request, { signal })) {
      yield { pushes: events.flatMap(candidatePushes), position };
    }
  }
}

const noTerms: ReadonlySet<bigint> = new Set();

interface Selector {
  readonly namespace: string;
  readonly name: string;
}
