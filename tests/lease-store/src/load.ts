import { LeaseServiceAcquireRequest, LeaseServiceReleaseRequest } from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import { Fault, systemClock } from "@tenure/kernel";
import type { Deployment } from "@tenure/testkit";
import { duration } from "./requests.ts";
import { Routes } from "./routes.ts";

/** One operation that was acknowledged. */
export interface Acknowledged {
  readonly partition: number;
  readonly atMs: number;
  readonly tookMs: number;
}

/** What the last acknowledged operation on a lease says must be true of it. */
export interface Expected {
  readonly holder: string;
  readonly token: bigint;
}

/**
 * Workers that take and release leases of their own, one operation at a time, as clients do: with attempts, and with
 * the same attempt again when the outcome is not known. Tells what was acknowledged.
 */
export class Load {
  readonly acknowledged: Acknowledged[] = [];
  readonly expected = new Map<string, Expected | undefined>();
  readonly tokens = new Map<string, bigint[]>();
  readonly surprises: string[] = [];
  readonly #deployment: Deployment;
  readonly #routes: Routes;
  readonly #workers: Promise<void>[] = [];
  #isRunning = true;

  constructor(deployment: Deployment, workers: number) {
    this.#deployment = deployment;
    this.#routes = new Routes(deployment.bus);
    for (let number = 0; number < workers; number += 1) this.#workers.push(this.#work(number));
  }

  /** Stops after the operations under way. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#workers);
    this.#routes[Symbol.dispose]();
  }

  /** What was acknowledged in a span of time. */
  during(fromMs: number, untilMs: number): readonly Acknowledged[] {
    // They are in the order of time, and the latest are asked for.
    const found: Acknowledged[] = [];
    for (let place = this.acknowledged.length - 1; place >= 0; place -= 1) {
      const one = this.acknowledged[place];
      if (one === undefined || one.atMs <= fromMs) break;
      if (one.atMs <= untilMs) found.push(one);
    }
    return found;
  }

  /** Operations acknowledged per second over the whole run. */
  get rate(): number {
    const [first, last] = [this.acknowledged[0], this.acknowledged.at(-1)];
    if (first === undefined || last === undefined) return 0;
    return (this.acknowledged.length * 1_000) / (last.atMs - first.atMs);
  }

  /** The longest time without an acknowledgement that any partition had in a span of time, in milliseconds. */
  longestGapMs(fromMs: number, untilMs: number): number {
    const last = new Map<number, number>();
    let longestMs = 0;
    for (const { atMs, partition } of this.acknowledged) {
      const before = last.get(partition);
      if (before !== undefined && atMs > fromMs && atMs < untilMs) longestMs = Math.max(longestMs, atMs - before);
      last.set(partition, atMs);
    }
    return longestMs;
  }

  async #work(number: number): Promise<void> {
    const name = `load-${number}`;
    const lease = { namespace: "conformance", name };
    const partition = partitionOf(`conformance/${name}`, 8);
    const principal = `worker-${number}`;
    let attempts = 0n;
    const attempt = () => {
      attempts += 1n;
      return { clientId: `load-${process.pid}-${number}`, number: attempts, settledBelow: attempts };
    };
    this.tokens.set(name, []);
    while (this.#isRunning) {
      const claim = LeaseServiceAcquireRequest.fromPartial({
        attempt: attempt(),
        claims: [{ lease, spec: { leaseDuration: duration(60_000) } }],
        claimant: { holder: principal },
      });
      const granted = await this.#until(partition, (options) =>
        this.#deployment.leases.acquire(claim, { principal, ...options }),
      );
      const token = granted?.grants[0]?.hold?.token;
      if (token === undefined) continue;
      this.tokens.get(name)?.push(token);
      this.expected.set(name, { holder: principal, token });
      if (!this.#isRunning) return;
      const ending = LeaseServiceReleaseRequest.fromPartial({ attempt: attempt(), items: [{ lease, token }] });
      const released = await this.#until(partition, (options) =>
        this.#deployment.leases.release(ending, { principal, ...options }),
      );
      if (released?.released[0] !== true) this.surprises.push(`${name}: token ${token} was not held at its release`);
      this.expected.set(name, undefined);
    }
  }

  /** Sends the same request until it is answered for certain. */
  async #until<Answer>(
    partition: number,
    send: (options: { readonly route?: string; readonly signal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const startedAtMs = systemClock.now();
    for (;;) {
      try {
        const answer = await this.#routes.send(partition, send);
        const atMs = systemClock.now();
        this.acknowledged.push({ partition, atMs, tookMs: atMs - startedAtMs });
        return answer;
      } catch (thrown) {
        const isPassing = thrown instanceof Fault && ["UNAVAILABLE", "DEADLINE_EXCEEDED"].includes(thrown.code);
        if (!isPassing) {
          this.surprises.push(String(thrown));
          return undefined;
        }
        await systemClock.sleep(5);
      }
    }
  }
}
