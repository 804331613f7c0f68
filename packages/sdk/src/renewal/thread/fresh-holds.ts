import type { SessionPush } from "@tenure/contracts";
import type { Clock, Timer } from "@tenure/kernel";
import type { Keeping, KeepListener, KeptHold } from "../../session/session.ts";
import type { Keeper, Told } from "../keeper.ts";
import type { RenewalThread } from "./renewal-thread.ts";

/** A term is told of after one to two of these: longer than most locks are held, and little beside any R. */
const roundMs = 50;
/** Terms that are renewed more often than every so many rounds are told of at once. */
const roundsPerRenewal = 10;

/**
 * Locks that have only just been taken. Most are released within milliseconds, and to tell the thread of each, and then
 * that it is gone, costs more than all else that a client does for it. The thread is told of those that last; until then
 * it finds their deadlines in the memory that it shares with the main thread, written before anybody can act on them, so
 * that it ends a process that has stalled past one of them all the same. What a stall within these first moments costs is
 * the renewals: such a lock ends with its first term.
 */
export class FreshHolds implements Keeper {
  readonly #thread: RenewalThread;
  readonly #clock: Clock;
  /** By the place of its deadline in the shared page; place 0 is the thread's sign of life. */
  readonly #holds: (FreshHold | undefined)[] = [undefined];
  readonly #freePlaces: number[] = [];
  #count = 0;
  #round = 0;
  #timer: Timer | undefined;

  constructor(thread: RenewalThread, clock: Clock) {
    this.#thread = thread;
    this.#clock = clock;
  }

  get size(): number {
    return this.#count + this.#thread.size;
  }

  warmUp(): void {
    this.#thread.warmUp();
  }

  keep(hold: KeptHold, listener: KeepListener, told: Told = "now"): Keeping {
    if (told !== "later") return this.#thread.keep(hold, listener, told);
    const isRare = hold.renewIntervalMs >= roundMs * roundsPerRenewal;
    const hasPlace = this.#count < this.#thread.signs.size - 1;
    if (!isRare || !hasPlace || !this.#thread.isUp) return this.#thread.keep(hold, listener, "soon");
    const place = this.#freePlaces.pop() ?? this.#holds.length;
    const fresh = new FreshHold(this, hold, listener, place, this.#round);
    this.#holds[place] = fresh;
    this.#thread.signs.set(place, hold.provenAtMs + hold.usableTermMs);
    this.#count += 1;
    this.#timer ??= this.#clock.schedule(roundMs, () => this.#nextRound());
    return fresh;
  }

  onPush(push: SessionPush): void {
    this.#thread.onPush(push);
  }

  /** Hands a hold over to the thread, which finds its deadline here no more: it is told before anything else can run. */
  tell({ hold, listener, place }: FreshHold, told: Told): Keeping {
    const keeping = this.#thread.keep(hold, listener, told);
    this.forget(place);
    return keeping;
  }

  /** Nobody can act on it any more, or the thread has it. */
  forget(place: number): void {
    this.#holds[place] = undefined;
    this.#thread.signs.set(place, 0);
    this.#freePlaces.push(place);
    this.#count -= 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    await this.#thread[Symbol.asyncDispose]();
  }

  #nextRound(): void {
    this.#timer = undefined;
    this.#round += 1;
    try {
      for (const fresh of this.#holds) if (fresh !== undefined && fresh.round + 1 < this.#round) fresh.tell("soon");
    } finally {
      // Also when one cannot be handed over: the others are, in one message, and those that are left in another round.
      if (this.#count > 0) this.#timer ??= this.#clock.schedule(roundMs, () => this.#nextRound());
      this.#thread.sendOrders();
    }
  }
}

/** One of them. */
class FreshHold implements Keeping {
  readonly hold: KeptHold;
  readonly listener: KeepListener;
  readonly place: number;
  /** In which it began. */
  readonly round: number;
  readonly #all: FreshHolds;
  #keeping: Keeping | undefined;
  #isRenewing = true;
  #isOver = false;

  constructor(all: FreshHolds, hold: KeptHold, listener: KeepListener, place: number, round: number) {
    this.#all = all;
    this.hold = hold;
    this.listener = listener;
    this.place = place;
    this.round = round;
  }

  get provenAtMs(): number {
    return this.#keeping?.provenAtMs ?? this.hold.provenAtMs;
  }

  /** Hands it over, unless it is only watched any more. */
  tell(told: Told): void {
    if (this.#isRenewing) this.#keeping ??= this.#all.tell(this, told);
  }

  renewNow(): void {
    if (!this.#isOver) this.tell("now");
    this.#keeping?.renewNow();
  }

  stopRenewing(): void {
    this.#isRenewing = false;
    this.#keeping?.stopRenewing();
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#keeping === undefined) this.#all.forget(this.place);
    else this.#keeping[Symbol.dispose]();
  }
}
