import type { Bus } from "@tenure/bus";
import { Backoff, type Clock, Fault, type Random, randomBase58, systemClock, systemRandom } from "@tenure/kernel";
import { AppendChannel } from "../append-channel.ts";
import type { LoggedMessage } from "../log-transport.ts";
import { type MessageQuery, readMessage } from "../stored-message.ts";
import { streamNames } from "../streams.ts";
import {
  attemptOf,
  chunkBytes,
  chunkSubject,
  describe,
  describes,
  descriptionSubject,
  type ObjectDescription,
  parseDescription,
} from "./object-layout.ts";
import {
  checkObject,
  describeObject,
  existsFault,
  mismatchFault,
  missingFault,
  type SnapshotObject,
  type SnapshotStore,
} from "./snapshot-store.ts";

/** What the store stands on. */
export interface SnapshotStoreOptions {
  readonly bus: Bus;
  readonly clock?: Clock;
  readonly random?: Random;
  /** How long to go on asking while nobody answers or the object is not to be seen. Default 15 s: two failovers. */
  readonly boundMs?: number;
}

const appendTimeoutMs = 5000;

/** Base58 digits that tell one try to write an object from another. */
const attemptDigits = 8;

/**
 * Snapshots in the JetStream object store. Every message is appended with a condition, so an answer that was lost is
 * found out by asking again, and an object cannot be replaced. It is read message by message through the stream's
 * leader, so a restart of a server in the middle costs a repeated question and not the whole object.
 */
export class JetStreamSnapshotStore implements SnapshotStore, Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #boundMs: number;
  readonly #channel: AppendChannel;

  constructor({ bus, clock = systemClock, random = systemRandom, boundMs = 15_000 }: SnapshotStoreOptions) {
    this.#bus = bus;
    this.#clock = clock;
    this.#random = random;
    this.#boundMs = boundMs;
    this.#channel = new AppendChannel(bus, clock);
  }

  async put(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<SnapshotObject> {
    const object = describeObject(name, bytes);
    const nuid = attemptOf(name, randomBase58(this.#random, attemptDigits));
    const known = await this.#findDescription(name);
    if (known === undefined) {
      let last = 0n;
      for (let from = 0; from < bytes.byteLength; from += chunkBytes) {
        last = await this.#append(chunkSubject(nuid), bytes.subarray(from, from + chunkBytes), last, signal);
      }
      const description = JSON.stringify(describe(object, nuid, this.#clock.wall()));
      await this.#append(descriptionSubject(name), new TextEncoder().encode(description), 0n, signal);
    }
    // Another may have written the name meanwhile: what stands there decides.
    const kept = await this.#description(name, signal);
    if (!describes(kept, object)) throw existsFault(object);
    return object;
  }

  async get(object: SnapshotObject, signal?: AbortSignal): Promise<Uint8Array> {
    const description = await this.#description(object.name, signal);
    if (!describes(description, object)) {
      throw mismatchFault(object, `${description.size} bytes with digest ${description.digest}`);
    }
    const bytes = new Uint8Array(description.size);
    let filled = 0;
    let last = 0n;
    for (let chunk = 0; chunk < description.chunks; chunk += 1) {
      const query = { seq: Number(last + 1n), next_by_subj: chunkSubject(description.nuid) };
      const { payload, sequence } = await this.#read(query, object.name, signal);
      // An object that is too long is another one; the digest below says so.
      bytes.set(payload.subarray(0, bytes.byteLength - filled), filled);
      filled += payload.byteLength;
      last = sequence;
    }
    return checkObject(object, filled === bytes.byteLength ? bytes : bytes.subarray(0, Math.min(filled, bytes.length)));
  }

  /**
   * Position in the bucket's stream of the object's first chunk; undefined for an empty object. What the partition has
   * below it belongs to older snapshots or to tries that were given up.
   */
  async locate(name: string, signal?: AbortSignal): Promise<bigint | undefined> {
    const { chunks, nuid } = await this.#description(name, signal);
    if (chunks === 0) return undefined;
    return (await this.#read({ seq: 1, next_by_subj: chunkSubject(nuid) }, name, signal)).sequence;
  }

  [Symbol.dispose](): void {
    this.#channel[Symbol.dispose]();
  }

  async #findDescription(name: string): Promise<ObjectDescription | undefined> {
    const query = { last_by_subj: descriptionSubject(name) };
    const message = await readMessage(this.#bus, streamNames.snapshots, query).catch(() => undefined);
    return message === undefined ? undefined : parseDescription(message.payload);
  }

  async #description(name: string, signal?: AbortSignal): Promise<ObjectDescription> {
    const message = await this.#read({ last_by_subj: descriptionSubject(name) }, name, signal);
    const description = parseDescription(message.payload);
    if (description === undefined) throw missingFault(name);
    return description;
  }

  /** Reads until the message is shown, within the bound: a leader that was deposed may not know it yet. */
  #read(query: MessageQuery, name: string, signal?: AbortSignal): Promise<LoggedMessage> {
    return this.#persist(signal, async () => {
      const message = await readMessage(this.#bus, streamNames.snapshots, query);
      if (message === undefined) throw missingFault(name);
      return message;
    });
  }

  /** Appends until it is acknowledged or a conflict shows that the subject has moved on; gives its last sequence. */
  #append(subject: string, payload: Uint8Array, prev: bigint, signal?: AbortSignal): Promise<bigint> {
    return this.#persist(signal, async () => {
      const request = { subject, payload, expectedLastSubjectSequence: prev, timeoutMs: appendTimeoutMs };
      const outcome = await this.#channel.append(request);
      if (outcome.kind === "acked") return outcome.sequence;
      // Nobody else writes this attempt's subjects, so the message that stands there is ours; see `put` for the last.
      if (outcome.refusal === "Conflict" && (outcome.lastSequence ?? 0n) > prev) return outcome.lastSequence ?? prev;
      throw new Fault({
        code: outcome.refusal === "Full" ? "RESOURCE_EXHAUSTED" : "UNAVAILABLE",
        reason: outcome.refusal === "Full" ? "SNAPSHOTS_FULL" : "JETSTREAM_UNAVAILABLE",
        message: `cannot write to ${subject}: ${outcome.description}`,
      });
    });
  }

  /** Repeats what may pass by itself. A repeated read or conditional append does no harm. */
  async #persist<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    const waits = new Backoff({ firstMs: 20, limitMs: 1000 }, this.#random);
    const startedAtMs = this.#clock.now();
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await act();
      } catch (thrown) {
        const waitMs = waits.next();
        const isPassing = thrown instanceof Fault && (thrown.code === "UNAVAILABLE" || thrown.code === "NOT_FOUND");
        if (!isPassing || this.#clock.now() - startedAtMs + waitMs > this.#boundMs) throw thrown;
        await this.#clock.sleep(waitMs, signal);
      }
    }
  }
}
