import type { Clock, Timer } from "@tenure/kernel";
import type { LoggedMessage } from "../log-transport.ts";
import type { Cursors } from "./cursors.ts";

/** What an audit compares and whom it tells. */
export interface TailAuditOptions {
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly readLast: (partition: number) => Promise<LoggedMessage | undefined>;
  /** Messages are there that the tail has not been given since the audit before. */
  readonly onBehind: (why: string) => void;
  readonly onWentBack: (partition: number, lastSequence: bigint, toldSequence: bigint) => void;
}

/** What an audit saw of a partition, and where its cursor stood. */
interface Suspicion {
  readonly kind: "behind" | "went back";
  readonly told: bigint;
}

/** How often the log's ends are compared with the cursors. */
const auditIntervalMs = 30_000;

/** A deposed leader's old answers end after about twelve seconds: what is seen again after this is not one of them. */
const confirmMs = 15_000;

/**
 * Compares now and then where a tail stands with where the log ends. It catches a consumer that beats but delivers
 * nothing, and a log that has lost its end. Both must be seen twice, because one answer may be that of a deposed leader.
 */
export class TailAudit implements Disposable {
  readonly #options: TailAuditOptions;
  /** What the audit before saw, by partition. */
  #suspected: ReadonlyMap<number, Suspicion> = new Map();
  #timer: Timer;
  #closed = false;

  constructor(options: TailAuditOptions) {
    this.#options = options;
    this.#timer = options.clock.schedule(auditIntervalMs, () => void this.#run());
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
    this.#timer = this.#options.clock.schedule(
      suspected.size > 0 ? confirmMs : auditIntervalMs,
      () => void this.#run(),
    );
  }

  async #examine(partition: number, suspected: Map<number, Suspicion>): Promise<void> {
    const before = this.#options.cursors.told(partition);
    const last = (await this.#options.readLast(partition))?.sequence ?? 0n;
    const told = this.#options.cursors.told(partition);
    if (this.#closed || told === undefined || told !== before || last === told) return;
    const kind = last > told ? "behind" : "went back";
    const suspicion = this.#suspected.get(partition);
    suspected.set(partition, { kind, told });
    if (suspicion?.kind !== kind || suspicion.told !== told) return;
    if (kind === "behind") this.#options.onBehind(`partition ${partition} ends at ${last}, told up to ${told}`);
    else this.#options.onWentBack(partition, last, told);
  }
}
