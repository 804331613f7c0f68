import { type Bus, livenessWildcard } from "@tenure/bus";
import { type CandidateKey, CandidateLiveness } from "@tenure/contracts";
import { type LeaseKey, leaseKey } from "@tenure/core";
import type { Clock, Timer } from "@tenure/kernel";

/** A stream at a gateway, or a candidate of which only itself is known. */
interface LiveStream {
  readonly instance: string;
  /** Its last beat, on this process's clock. */
  atMs: number;
  /** The leases of its candidates. */
  readonly leases: Set<LeaseKey>;
}

/** A candidate on a stream. */
interface Place {
  readonly stream: LiveStream;
  /** When it was last named for the stream. */
  namedAtMs: number;
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
/** A candidate that was not named for a stream for this long is not on it any more: gateways name all every 10 s. */
const namedBoundMs = 35_000;

/**
 * Which candidates beat on a live stream, as the gateways tell it. Counted from when this process heard of the beat; a
 * close takes the candidate out. What is lost does no harm: the candidate is asked by ping instead.
 */
export class LiveStreams implements Disposable {
  readonly #options: LiveStreamsOptions;
  readonly #leases = new Map<LeaseKey, Map<string, Place>>();
  /** By gateway and number. */
  readonly #streams = new Map<string, LiveStream>();
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
    const beats = new Map<string, number>();
    for (const [name, { stream }] of this.#leases.get(lease) ?? []) beats.set(name, stream.atMs);
    return beats;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.#sweep.cancel();
  }

  #hear(payload: Uint8Array): void {
    const { beating, closed, instance, live, sequence, stream } = CandidateLiveness.decode(payload);
    if (sequence <= (this.#sequences.get(instance) ?? 0n)) return;
    this.#sequences.set(instance, sequence);
    const now = this.#options.clock.now();
    for (const key of closed) this.#close(key, instance);
    for (const number of beating) this.#beat(this.#streams.get(nameOf(instance, number)), now);
    const shared = stream === 0n || live.length === 0 ? undefined : this.#stream(instance, stream);
    for (const key of live) this.#name(key, shared ?? newStream(instance), now);
    this.#beat(shared, now);
  }

  #stream(instance: string, number: bigint): LiveStream {
    const name = nameOf(instance, number);
    const stream = this.#streams.get(name) ?? newStream(instance);
    this.#streams.set(name, stream);
    return stream;
  }

  /** Every candidate of a stream beats with it. One that had been silent may be what an election waits for. */
  #beat(stream: LiveStream | undefined, now: number): void {
    if (stream === undefined) return;
    const wasAtMs = stream.atMs;
    stream.atMs = now;
    if (now - wasAtMs > this.#options.liveBoundMs) for (const lease of stream.leases) this.#options.onChange(lease);
  }

  #name({ lease, name }: CandidateKey, stream: LiveStream, now: number): void {
    if (lease === undefined) return;
    const key = leaseKey(lease.namespace, lease.name);
    const places = this.#leases.get(key) ?? new Map<string, Place>();
    this.#leases.set(key, places);
    const known = places.get(name);
    if (known?.stream === stream) {
      known.namedAtMs = now;
      return;
    }
    const isNews = known === undefined || now - known.stream.atMs > this.#options.liveBoundMs;
    stream.leases.add(key);
    places.set(name, { stream, namedAtMs: now });
    if (stream.atMs === Number.NEGATIVE_INFINITY) stream.atMs = now;
    if (isNews) this.#options.onChange(key);
  }

  /** A stream that was closed at one gateway may have been opened at another before. */
  #close({ lease, name }: CandidateKey, instance: string): void {
    if (lease === undefined) return;
    const key = leaseKey(lease.namespace, lease.name);
    const places = this.#leases.get(key);
    if (places?.get(name)?.stream.instance !== instance) return;
    places.delete(name);
    if (places.size === 0) this.#leases.delete(key);
    this.#options.onChange(key);
  }

  #scheduleSweep(): Timer {
    const { clock, liveBoundMs } = this.#options;
    return clock.schedule(sweepMs, () => {
      const now = clock.now();
      const isOver = ({ namedAtMs, stream }: Place) =>
        now - stream.atMs > liveBoundMs || now - namedAtMs > namedBoundMs;
      for (const [key, places] of this.#leases) {
        for (const [name, place] of places) if (isOver(place)) places.delete(name);
        if (places.size === 0) this.#leases.delete(key);
      }
      for (const [name, { atMs }] of this.#streams) if (now - atMs > liveBoundMs) this.#streams.delete(name);
      this.#sweep = this.#scheduleSweep();
    });
  }
}

function newStream(instance: string): LiveStream {
  return { instance, atMs: Number.NEGATIVE_INFINITY, leases: new Set() };
}

function nameOf(instance: string, number: bigint): string {
  return `${instance} ${number}`;
}
