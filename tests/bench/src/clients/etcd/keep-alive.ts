import { systemClock } from "@tenure/kernel";
import type { Renewed, Renewer } from "../peer-client.ts";
import type { EtcdLink, EtcdStream } from "./link.ts";
import { encodeLeaseId, methods } from "./messages.ts";

/** Every so many renewals one is timed, so that the clock does not become the cost. */
const timedEvery = 16;

/** One LeaseKeepAlive stream and the leases that it keeps, in turns. Answers come in the order of the requests. */
export class KeepAliveStream {
  readonly #stream: EtcdStream;
  readonly #requests: readonly Uint8Array[];
  readonly #sentAtMs: number[] = [];
  #sent = 0;
  #answered = 0;
  onAnswer: (tookMs: number | undefined) => void = () => {};

  constructor(link: EtcdLink, leases: readonly string[]) {
    this.#requests = leases.map(encodeLeaseId);
    this.#stream = link.stream(methods.leaseKeepAlive, () => {
      this.#answered += 1;
      const isTimed = this.#answered % timedEvery === 0;
      this.onAnswer(isTimed ? systemClock.now() - (this.#sentAtMs.shift() ?? 0) : undefined);
    });
  }

  sendNext(): void {
    const request = this.#requests[this.#sent % this.#requests.length];
    this.#sent += 1;
    if (this.#sent % timedEvery === 0) this.#sentAtMs.push(systemClock.now());
    if (request !== undefined) this.#stream.send(request);
  }
}

/** Keeps so many renewals under way on each stream until the time is over and all are answered. */
export function keepingAlive(streams: readonly KeepAliveStream[], inFlightEach: number): Renewer {
  return {
    renewFor: (durationMs) =>
      new Promise<Renewed>((resolve) => {
        const endAtMs = systemClock.now() + durationMs;
        const latenciesMs: number[] = [];
        let count = 0;
        let open = streams.length * inFlightEach;
        for (const stream of streams) {
          stream.onAnswer = (tookMs) => {
            count += 1;
            if (tookMs !== undefined) latenciesMs.push(tookMs);
            if (systemClock.now() < endAtMs) stream.sendNext();
            else {
              open -= 1;
              if (open === 0) resolve({ count, latenciesMs });
            }
          };
          for (let number = 0; number < inFlightEach; number += 1) stream.sendNext();
        }
      }),
  };
}
