import { type Bus, ownerSubject, ownerWildcard } from "@tenure/bus";
import { OwnerBeat } from "@tenure/contracts";
import type { Clock } from "@tenure/kernel";

/** What a replica says of itself in a beat. */
export interface OwnBeat {
  /** The partitions that it owns, with their epochs; one whose append loop is stuck is left out. */
  readonly owned: ReadonlyMap<number, bigint>;
  /** How long it has been able to own, in milliseconds. */
  readonly uptimeMs: number;
  /** It is about to end. */
  readonly isLeaving: boolean;
}

/** Another replica, as this one last heard it. */
export interface HeardReplica extends OwnBeat {
  readonly instance: string;
  /** When its newest beat was heard, on this replica's clock. */
  readonly heardAtMs: number;
}

/** What beats stand on. */
export interface OwnerBeatsOptions {
  readonly bus: Pick<Bus, "connected" | "publish" | "subscribe">;
  readonly clock: Clock;
  /** This replica; its own beats are not heard. */
  readonly instance: string;
  /** Beats of another incarnation are ignored. */
  readonly incarnationId: string;
  /** How many partitions the incarnation has; told to callers who may not read it. */
  readonly partitions?: number;
  /** Told of each beat of another replica. */
  readonly onBeat?: (replica: HeardReplica) => void;
}

/** A replica that was silent for this long is forgotten; far beyond any silence that decides something. */
const forgottenAfterMs = 60_000;

/**
 * The heartbeats of replicas, on core NATS: cheap, without memory, and allowed to be lost. They say who lives and which
 * partitions each serves right now; only the log says who owns. Beats are sent when the append loop says so, not by a
 * timer of their own, so that a replica whose loop hangs falls silent.
 */
export class OwnerBeats implements Disposable {
  readonly #options: OwnerBeatsOptions;
  readonly #heard = new Map<string, HeardReplica & { readonly sequence: bigint }>();
  readonly #unsubscribe: () => void;
  #sent = 0n;

  constructor(options: OwnerBeatsOptions) {
    this.#options = options;
    this.#unsubscribe = options.bus.subscribe(ownerWildcard, (payload) => this.#hear(payload));
  }

  /** Sends one beat, unless there is no connection. */
  send({ isLeaving, owned, uptimeMs }: OwnBeat): void {
    const { bus, incarnationId, instance, partitions = 0 } = this.#options;
    if (!bus.connected) return;
    this.#sent += 1n;
    const beat: OwnerBeat = {
      instance,
      incarnationId,
      sequence: this.#sent,
      owned: [...owned].map(([partition, epoch]) => ({ partition, epoch })),
      uptimeMs: BigInt(Math.max(0, Math.floor(uptimeMs))),
      leaving: isLeaving,
      partitions,
    };
    bus.publish(ownerSubject(instance), OwnerBeat.encode(beat).finish());
  }

  /** Every other replica that was heard within the last minute, by instance. Judging their silence is the caller's. */
  get replicas(): readonly HeardReplica[] {
    const oldestMs = this.#options.clock.now() - forgottenAfterMs;
    for (const [instance, { heardAtMs }] of this.#heard) if (heardAtMs < oldestMs) this.#heard.delete(instance);
    return [...this.#heard.values()].sort((a, b) => (a.instance < b.instance ? -1 : 1));
  }

  /** Hears no more. */
  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.#heard.clear();
  }

  #hear(payload: Uint8Array): void {
    const beat = OwnerBeat.decode(payload);
    const { clock, incarnationId, instance: self, onBeat } = this.#options;
    if (beat.instance === self || beat.instance === "" || beat.incarnationId !== incarnationId) return;
    const known = this.#heard.get(beat.instance);
    if (known !== undefined && beat.sequence <= known.sequence) return;
    const replica = {
      instance: beat.instance,
      sequence: beat.sequence,
      heardAtMs: clock.now(),
      owned: new Map(beat.owned.map(({ partition, epoch }) => [partition, epoch])),
      uptimeMs: Number(beat.uptimeMs),
      isLeaving: beat.leaving,
    };
    this.#heard.set(beat.instance, replica);
    onBeat?.(replica);
  }
}
