import { LeaseServiceWatchRequest, LeaseServiceWatchResponse } from "@tenure/contracts";
import type { Random } from "@tenure/kernel";
import type { Watches } from "@tenure/reader";
import type { SimulatedProcess } from "../time/simulated-process.ts";

/** One who serves watches. */
export interface WatchServer {
  readonly process: SimulatedProcess;
  readonly watches: Watches;
}

/** Told of what a watcher is sent. */
export interface WatcherListener {
  onOpened(isResuming: boolean): void;
  onResponse(response: LeaseServiceWatchResponse): void;
  /** It was refused for a reason that no fault of the world explains. */
  onRefused(thrown: unknown): void;
}

/** Longer than the heartbeat, so that only a dead or stopped server is silent for so long. */
const silenceMs = 1_300;
const heartbeatInterval = { seconds: 1n, nanos: 0 };
/** What a server may say that cannot serve a watch now. */
const passing: ReadonlySet<string> = new Set(["UNAVAILABLE", "RESOURCE_EXHAUSTED"]);

/** One who watches all leases for ever, now here and now there, and goes on from its last token. */
export class Watcher {
  readonly #process: SimulatedProcess;
  readonly #random: Random;
  readonly #servers: () => readonly WatchServer[];
  readonly #listener: WatcherListener;
  #token: Uint8Array = new Uint8Array(0);
  #heardAtMs = 0;

  constructor(
    process: SimulatedProcess,
    random: Random,
    servers: () => readonly WatchServer[],
    listener: WatcherListener,
  ) {
    this.#process = process;
    this.#random = random;
    this.#servers = servers;
    this.#listener = listener;
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#process.sleep(10 + this.#random.next() * 40);
      const servers = this.#servers();
      const server = servers[Math.floor(this.#random.next() * servers.length)];
      if (server !== undefined) await this.#watch(server);
    }
  }

  /** Watches until the server is silent, refuses, or another is tried for a change. */
  async #watch(server: WatchServer): Promise<void> {
    const leaving = new AbortController();
    const stayMs = this.#random.next() < 0.7 ? 50 + this.#random.next() * 1_500 : Number.POSITIVE_INFINITY;
    const untilMs = this.#process.now() + stayMs;
    // Some forget where they were.
    if (this.#random.next() < 0.1) this.#token = new Uint8Array(0);
    this.#heardAtMs = this.#process.now();
    this.#listener.onOpened(this.#token.length > 0);
    let isOpen = true;
    server.process.deliver(() => {
      void this.#receive(server, leaving.signal).then(() => {
        isOpen = false;
      });
    });
    while (isOpen && this.#process.now() < untilMs && this.#process.now() - this.#heardAtMs < silenceMs) {
      await this.#process.sleep(50);
    }
    leaving.abort(new Error("the watcher has gone"));
  }

  async #receive({ watches }: WatchServer, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const options = { resumeToken: this.#token, heartbeatInterval };
    const request = LeaseServiceWatchRequest.fromPartial({ selectors: [{ namespace: "world" }], options });
    try {
      for await (const bytes of watches.leases(request, signal)) {
        if (signal.aborted) return;
        const response = LeaseServiceWatchResponse.decode(bytes);
        this.#heardAtMs = this.#process.now();
        const { mark, resumeToken = new Uint8Array(0) } = response.position ?? {};
        if (resumeToken.length > 0 || mark !== undefined) this.#token = resumeToken;
        this.#listener.onResponse(response);
        // A slow one is cut off and comes again.
        if (this.#random.next() < 0.02) await this.#process.sleep(this.#random.next() * 600);
      }
    } catch (thrown) {
      if (!signal.aborted && !isPassing(thrown)) this.#listener.onRefused(thrown);
    }
  }
}

/** By its shape, because a mutated copy of the code may bring its own class. */
function isPassing(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && passing.has(String(thrown.code));
}
