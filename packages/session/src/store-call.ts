import { type Backoff, type Clock, Fault, type Member, type Timer } from "@tenure/kernel";
import type { AttemptLane } from "./attempt-lanes.ts";
import type { StartBytes } from "./byte-service.ts";
import type { OpenCall, Outcome, StoreCallOptions } from "./open-call.ts";
import type { OpenWait } from "./open-wait.ts";
import type { OwnerRoutes } from "./owner-routes.ts";
import type { GroupedCall } from "./wait-beats.ts";

/** What a call needs to be sent, perhaps several times. */
export interface SendPort {
  readonly clock: Clock;
  readonly routes: OwnerRoutes;
  backoff(): Backoff;
  /** A call is over, whatever its outcome: its lane, if one was made up for it, is free. */
  onOver(call: StoreCall, lane: AttemptLane | undefined): void;
}

/** One call as it was asked for. */
export interface StoreCallInput {
  /** The partition of its key; undefined when it has none, or while their number is not known: see `placeIn`. */
  readonly partition: number | undefined;
  readonly send: StartBytes;
  readonly request: Uint8Array;
  readonly options: StoreCallOptions;
  /** Whether it changes something, so that its fault says whether it was applied. */
  readonly isChange: boolean;
  readonly wait: OpenWait | undefined;
  /** What its attempt was made up from, if it came without one. */
  readonly lane: AttemptLane | undefined;
  /** Told the outcome once, unless the caller gives the call up. */
  readonly done: (outcome: Outcome) => void;
}

/** Faults of an owner that another try elsewhere does not cure, or that are not about owners. */
const finalReasons: ReadonlySet<string> = new Set([
  "PARTITION_HALTED",
  "RECOVERING",
  "BUS_DISCONNECTED",
  "BUS_CLOSED",
  "REPLICA_BEHIND",
]);

/** Of these a wait, which may be open for hours, does not recover either. */
const finalForWaits: ReadonlySet<string> = new Set(["PARTITION_HALTED", "BUS_CLOSED"]);

/**
 * A call of the store under way: first on the route of its owner, then, if that one does not answer for the partition
 * any more, by way of any replica, which tries until the deadline. Only the newest sending counts; the attempt makes
 * all of them one change.
 */
export class StoreCall implements OpenCall, Member {
  readonly #port: SendPort;
  readonly #input: StoreCallInput;
  #endsAtMs = 0;
  #partition: number | undefined;
  #sending = 0;
  #epoch: bigint | undefined;
  #sent: { cancel(): void } | undefined;
  #retry: { readonly backoff: Backoff; timer: Timer | undefined } | undefined;
  #isOver = false;
  #isUnanswered = false;
  /** An earlier sending may have been applied, or may be still: what a later one says is certain of that one only. */
  #isInDoubt = false;
  /** When it was last sent, on the port's clock. */
  sentAtMs = 0;
  place = -1;
  /** Where the claims that its client waits for have it, if it is one. */
  grouped: GroupedCall | undefined;

  constructor(port: SendPort, input: StoreCallInput) {
    this.#port = port;
    this.#input = input;
    this.#partition = input.partition;
  }

  get wait(): OpenWait | undefined {
    return this.#input.wait;
  }

  get partition(): number | undefined {
    return this.#partition;
  }

  /** The number of partitions has become known, and with it the call's own. */
  placeIn(partition: number): void {
    this.#partition = partition;
  }

  /** Sends it, on the route of the owner if one is known. */
  send(): void {
    const partition = this.#partition;
    this.#send(partition === undefined ? undefined : this.#port.routes.epochOf(partition));
  }

  /** Sends it again, because the owner does not know it. */
  sendAgain(): void {
    if (!this.#isOver) this.send();
  }

  /** The partition has another owner: what was sent to an earlier one may never be answered. */
  onMoved(): void {
    const partition = this.#partition;
    if (this.#isOver || partition === undefined) return;
    if (this.#port.routes.epochOf(partition) !== this.#epoch) this.send();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#settle(undefined);
    this.#sent?.cancel();
  }

  #send(epoch: bigint | undefined): void {
    const { options, request, send, wait } = this.#input;
    const partition = this.#partition;
    this.#retry?.timer?.cancel();
    this.#isInDoubt ||= this.#isUnanswered;
    this.#isUnanswered = true;
    this.#sending += 1;
    const isFirst = this.#sending === 1;
    const sending = this.#sending;
    this.#epoch = epoch;
    this.sentAtMs = this.#port.clock.now();
    if (isFirst) this.#endsAtMs = this.sentAtMs + options.deadlineMs;
    const replaced = this.#sent;
    this.#sent = send(
      wait === undefined || isFirst ? request : wait.request(),
      {
        deadlineMs: isFirst ? options.deadlineMs : Math.max(1, this.#endsAtMs - this.sentAtMs),
        principal: options.principal,
        trace: options.trace,
        route: epoch === undefined || partition === undefined ? undefined : this.#port.routes.routeOf(partition),
      },
      (outcome) => this.#onOutcome(sending, outcome),
    );
    // Only after the new sending: an owner that has both keeps the wait's place.
    replaced?.cancel();
  }

  #onOutcome(sending: number, outcome: Outcome): void {
    if (sending !== this.#sending || this.#isOver) return;
    if (outcome instanceof Fault) this.#onFault(outcome);
    else this.#settle(outcome);
  }

  #onFault(fault: Fault): void {
    const { wait } = this.#input;
    const partition = this.#partition;
    this.#isUnanswered = false;
    const isOwnerGone = fault.code === "UNAVAILABLE" && !finalReasons.has(fault.reason);
    if (isOwnerGone && this.#epoch !== undefined && partition !== undefined) {
      this.#port.routes.drop(partition, this.#epoch);
      this.#noteDoubt(fault);
      this.#send(undefined);
    } else if (wait !== undefined && fault.code === "UNAVAILABLE" && !finalForWaits.has(fault.reason)) {
      this.#sendLater(fault);
    } else this.#settle(this.#certain(fault));
  }

  #noteDoubt({ details }: Fault): void {
    this.#isInDoubt ||= details.applied !== "NO";
  }

  /** The fault as it is true of all sendings: "surely not applied" only if that is so of each. */
  #certain(fault: Fault): Fault {
    if (!this.#input.isChange || !this.#isInDoubt || fault.details.applied !== "NO") return fault;
    const { cause, code, details, message, reason } = fault;
    return new Fault({ code, reason, message, details: { ...details, applied: "UNKNOWN" }, cause });
  }

  /** A wait outlives outages: it is tried again until its deadline. */
  #sendLater(fault: Fault): void {
    const { clock } = this.#port;
    this.#retry ??= { backoff: this.#port.backoff(), timer: undefined };
    const pauseMs = this.#retry.backoff.next();
    if (clock.now() + pauseMs >= this.#endsAtMs) {
      this.#settle(this.#certain(fault));
      return;
    }
    this.#noteDoubt(fault);
    this.#retry.timer = clock.schedule(pauseMs, () => this.sendAgain());
  }

  #settle(outcome: Outcome | undefined): void {
    this.#isOver = true;
    this.#retry?.timer?.cancel();
    this.#port.onOver(this, this.#input.lane);
    if (outcome !== undefined) this.#input.done(outcome);
  }
}
