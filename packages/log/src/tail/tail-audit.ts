import type { Clock, Timer } from "@tenure/kernel";
import type { LoggedMessage } from "../log-transport.ts";
import type { Cursors } from "./cursors.ts";

/** When an audit looks. */
export interface AuditPace {
  /** How often the log's ends are compared with the cursors. */
  readonly intervalMs: number;
  /** How long after a suspicion it looks again: longer than a deposed leader's old answers last. */
  readonly confirmMs: number;
}

/** A deposed leader's old answers end after about twelve seconds: what is seen again after fifteen is not one of them. */
const usualPace: AuditPace = { intervalMs: 30_000, confirmMs: 15_000 };

/** What an audit compares and whom it tells. */
export interface TailAuditOptions {
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly readLast: (partition: number) => Promise<LoggedMessage | undefined>;
  /** What the reader knows to be in the log without this tail: appends of its own that were acknowledged. */
  readonly knownUpTo?: (partition: number) => bigint;
  /** Messages are there that the tail has not been given since the audit before. */
  readonly onBehind: (why: string) => void;
  readonly onWentBack: (partition: number, lastSequence: bigint, toldSequence: bigint) => void;
  /** Default: every half minute. */
  readonly pace?: AuditPace;
}

/** What an audit saw of a partition, and where its cursor stood. */
interface Suspicion {
  readonly kind: "behind" | "went back";
  readonly told: bigint;
  /** The newest message that is known to have been there. */
  readonly known: bigint;
}

/**
 * Compares now and then where a tail stands with where the log ends. It catches a consumer that beats but delivers
 * nothing, and a log that has lost its end. Both must be seen twice, because one answer may be that of a deposed leader.
 */
export class TailAudit implements Disposable {
  readonly #options: TailAuditOptions;
  readonly #pace: AuditPace;
  /** What the audit before saw, by partition. */
  #suspected: ReadonlyMap<number, Suspicion> = new Map();
  #timer: Timer;
  #closed = false;

  constructor(options: TailAuditOptions) {
    this.#options = options;
    this.#pace = options.pace ?? usualPace;
    this.#timer = options.clock.schedule(this.#pace.intervalMs, () => void this.#run());
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#timer.cancel();
  }

  async #run(): Promise<void> {
    const suspected = new Map<number, Suspicion>();
    for (const partition of this.#options.cursors.partitions) {
      // An audit that gets no answer learns nothing; the next one asks again.
      await this.#examine(partition, suspected).catch(() => undefined);
      if (this.#closed) return;
    }
    this.#suspected = suspected;
    const { confirmMs, intervalMs } = this.#pace;
    const pauseMs = suspected.size > 0 ? confirmMs : intervalMs;
    this.#timer = this.#options.clock.schedule(pauseMs, () => void this.#run());
  }

  async #examine(partition: number, suspected: Map<number, Suspicion>): Promise<void> {
    const before = this.#standing(partition);
    const last = (await this.#options.readLast(partition))?.sequence ?? 0n;
    const now = this.#standing(partition);
    if (this.#closed || before === undefined || now === undefined || !isSame(before, now)) return;
    if (last === now.told && last >= now.known) return;
    const kind = last < now.known ? "went back" : "behind";
    const suspicion = this.#suspected.get(partition);
    suspected.set(partition, { kind, ...now });
    if (suspicion?.kind !== kind || !isSame(suspicion, now)) return;
    if (kind === "behind") this.#options.onBehind(`partition ${partition} ends at ${last}, told up to ${now.told}`);
    else this.#options.onWentBack(partition, last, now.known);
  }

  /** How far the tail has told a partition and how far it is known; undefined while it is parked. */
  #standing(partition: number): Omit<Suspicion, "kind"> | undefined {
    const told = this.#options.cursors.told(partition);
    if (told === undefined) return undefined;
    const known = this.#options.knownUpTo?.(partition) ?? 0n;
    return { told, known: known > told ? known : told };
  }
}

function isSame(left: Omit<Suspicion, "kind">, right: Omit<Suspicion, "kind">): boolean {
  return left.told === right.told && left.known === right.known;
}
