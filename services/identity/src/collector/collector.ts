import { type CollectionItem, CollectionOutcome, type CollectionState, timestampFromMs } from "@tenure/contracts";
import type { CollectorPorts } from "./collector-ports.ts";
import { DeadCandidates } from "./dead-candidates.ts";
import { DeadIdentities, expiredOf } from "./dead-identities.ts";
import { HoldBacks } from "./hold-backs.ts";
import { inChunks, type Round } from "./round.ts";

/** How long one removal may take before it is left to the next round. */
const deadlineMs = 5_000;
/** What a report may list. */
const mostItems = 10_000;

/**
 * Collects what is dead while this replica holds the collector's lease. What is dead is decided by core from this
 * replica's own sight, and judged anew by the owner of each record, who spares what was renewed in between. It remembers
 * nothing that matters: the next collector goes on from the records.
 */
export class Collector {
  readonly #ports: CollectorPorts;
  readonly #identities: DeadIdentities;
  readonly #candidates: DeadCandidates;
  readonly #holdBacks: HoldBacks;
  #collected = 0n;
  #spared = 0n;
  #lastRunWallMs: number | undefined;
  #round: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};

  constructor(ports: CollectorPorts) {
    this.#ports = ports;
    this.#identities = new DeadIdentities(ports);
    this.#candidates = new DeadCandidates(ports);
    this.#holdBacks = new HoldBacks(ports);
  }

  /** Collects until the signal is aborted, which is when the lease is lost. */
  async run(signal: AbortSignal): Promise<void> {
    this.#collected = 0n;
    this.#spared = 0n;
    while (!signal.aborted) {
      const { nextMs } = await this.#serially(() => this.#collect(false, signal)).catch((fault: unknown) => {
        this.#ports.listener.onFault("collect", fault);
        return { nextMs: Number.POSITIVE_INFINITY };
      });
      await this.#pause(Math.min(nextMs, this.#ports.resyncMs), signal);
    }
    this.#holdBacks.clear();
  }

  /** Something happened that a round may be worth. */
  stir(): void {
    this.#wake();
  }

  /** Where collection stands. */
  get state(): CollectionState {
    const { directory, instance, term } = this.#ports;
    return {
      ...this.#holdBacks.state,
      collector: instance,
      token: term.token,
      dead: expiredOf(directory).length,
      total: directory.total,
      collected: this.#collected,
      spared: this.#spared,
      lastRunAt: this.#lastRunWallMs === undefined ? undefined : timestampFromMs(this.#lastRunWallMs),
    };
  }

  /** Lets a hold-back go on; FAILED_PRECONDITION when it is another one, or over. */
  goOn(holdBackId: string, reason: string, principal: string): void {
    this.#holdBacks.goOn(holdBackId, reason, principal);
  }

  /** Collects now, or shows what would be collected; refused with COLLECTION_HELD_BACK while it holds back. */
  async collectNow(isDryRun: boolean, signal: AbortSignal): Promise<readonly CollectionItem[]> {
    const { items } = await this.#serially(() => this.#collect(isDryRun, signal));
    if (!isDryRun) this.#holdBacks.assertNone();
    return items.slice(0, mostItems);
  }

  /** One round at a time. */
  #serially<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const result = this.#round.then(work);
    this.#round = result.catch(() => undefined);
    return result;
  }

  async #collect(isDryRun: boolean, signal: AbortSignal) {
    const { clock, isDryRun: isAlwaysDry, principal, term } = this.#ports;
    const round: Round = {
      isDryRun: isDryRun || isAlwaysDry,
      isGoing: () => !signal.aborted && term.isHeld,
      asking: { principal, deadlineMs, signal },
    };
    this.#lastRunWallMs = clock.wall();
    if (!round.isDryRun) await this.#identities.finishDepartures(round);
    const decision = this.#holdBacks.decide();
    const identities = await inChunks(decision.due, round, (id) => this.#collectIdentity(id, round));
    const left = this.#identities.left(decision);
    const dead = decision.holdBack === undefined ? this.#candidates.due() : [];
    const candidates = await inChunks(dead, round, (one) => this.#candidates.collect(one, round));
    const nextMs = Math.min(decision.nextMs ?? Number.POSITIVE_INFINITY, this.#identities.nextMs);
    return { items: [...identities, ...left, ...candidates], nextMs };
  }

  async #collectIdentity(id: string, round: Round): Promise<CollectionItem> {
    const item = await this.#identities.collect(id, round);
    if (!round.isDryRun && item.outcome === CollectionOutcome.COLLECTED) this.#collected += 1n;
    if (!round.isDryRun && item.outcome === CollectionOutcome.SPARED) this.#spared += 1n;
    return item;
  }

  /** Waits, at most for so long, until stirred. */
  async #pause(pauseMs: number, signal: AbortSignal): Promise<void> {
    const awake = new AbortController();
    const wake = () => awake.abort();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    await this.#ports.clock.sleep(Math.max(10, pauseMs), awake.signal).catch(() => undefined);
    signal.removeEventListener("abort", wake);
  }
}
