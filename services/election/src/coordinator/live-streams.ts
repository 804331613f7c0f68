import { type Bus, livenessWildcard } from "@tenure/bus";
import { type CandidateKey, CandidateLiveness } from "@tenure/contracts";
import { type LeaseKey, leaseKey } from "@tenure/core";
import type { Clock, Timer } from "@tenure/kernel";

interface LeaseBeats {
  /** The last beat of each candidate, on this process's clock. */
  readonly atMs: Map<string, number>;
  /** Which gateway told of it. */
  readonly from: Map<string, string>;
}

/** What live streams stand on. */
export interface LiveStreamsOptions {
  readonly bus: Pick<Bus, "subscribe">;
  readonly clock: Clock;
  /** A beat counts for this long. */
  readonly liveBoundMs: number;
  /** Told when a candidate begins to be live, or its stream has closed: elections may go on at once. */
  onChange(lease: LeaseKey): void;
}

/** How often what is long over is forgotten. */
const sweepMs = 10_000;

const none: ReadonlyMap<string, number> = new Map();

/**
 * Which candidates beat on a live stream, as the gateways tell it. Counted from when this process heard of the beat; a
 * close takes the candidate out. What is lost does no harm: the candidate is asked by ping instead.
 */
export class LiveStreams implements Disposable {
  readonly #options: LiveStreamsOptions;
  readonly #leases = new Map<LeaseKey, LeaseBeats>();
  readonly #sequences = new Map<string, bigint>();
  readonly #unsubscribe: () => void;
  #sweep: Timer;

  constructor(options: LiveStreamsOptions) {
    this.#options = options;
    this.#unsubscribe = options.bus.subscribe(livenessWildcard, (payload) => this.#hear(payload));
    this.#sweep = this.#scheduleSweep();
  }

  /** When the last beat of each of a lease's candidates was heard. Old ones may be among them. */
  beatsOf(lease: LeaseKey): ReadonlyMap<string, number> {
    return this.#leases.get(lease)?.atMs ?? none;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.#sweep.cancel();
  }

  #hear(payload: Uint8Array): void {
    const { closed, instance, live, sequence } = CandidateLiveness.decode(payload);
    if (sequence <= (this.#sequences.get(instance) ?? 0n)) return;
    this.#sequences.set(instance, sequence);
    const now = this.#options.clock.now();
    for (const key of closed) this.#close(key, instance);
    for (const key of live) this.#beat(key, instance, now);
  }

  #beat({ lease, name }: CandidateKey, instance: string, now: number): void {
    if (lease === undefined) return;
    const key = leaseKey(lease.namespace, lease.name);
    const beats = this.#beats(key);
    const wasAtMs = beats.atMs.get(name) ?? Number.NEGATIVE_INFINITY;
    beats.atMs.set(name, now);
    beats.from.set(name, instance);
    if (now - wasAtMs > this.#options.liveBoundMs) this.#options.onChange(key);
  }

  /** A stream that was closed at one gateway may have been opened at another before. */
  #close({ lease, name }: CandidateKey, instance: string): void {
    if (lease === undefined) return;
    const key = leaseKey(lease.namespace, lease.name);
    const beats = this.#leases.get(key);
    if (beats?.from.get(name) !== instance) return;
    beats.atMs.delete(name);
    beats.from.delete(name);
    this.#options.onChange(key);
  }

  #beats(key: LeaseKey): LeaseBeats {
    let beats = this.#leases.get(key);
    if (beats === undefined) {
      beats = { atMs: new Map(), from: new Map() };
      this.#leases.set(key, beats);
    }
    return beats;
  }

  #scheduleSweep(): Timer {
    const { clock, liveBoundMs } = this.#options;
    return clock.schedule(sweepMs, () => {
      const oldestMs = clock.now() - liveBoundMs;
      for (const [key, { atMs, from }] of this.#leases) {
        for (const [name, beatAtMs] of atMs) {
          if (beatAtMs >= oldestMs) continue;
          atMs.delete(name);
          from.delete(name);
        }
        if (atMs.size === 0) this.#leases.delete(key);
      }
      this.#sweep = this.#scheduleSweep();
    });
  }
}
