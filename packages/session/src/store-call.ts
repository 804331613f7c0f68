import { type Backoff, type Clock, type Fault, type Timer, toFault } from "@tenure/kernel";
import type { UnaryBytes } from "./byte-service.ts";
import type { OpenCall, Outcome, StoreCallOptions } from "./open-call.ts";
import type { OpenWait } from "./open-wait.ts";
import type { OwnerRoutes } from "./owner-routes.ts";

/** What a call needs to be sent, perhaps several times. */
export interface SendPort {
  readonly clock: Clock;
  readonly routes: OwnerRoutes;
  backoff(): Backoff;
}

/** One call as it was asked for. */
export interface StoreCallInput {
  readonly partition: number | undefined;
  readonly send: UnaryBytes;
  readonly request: Uint8Array;
  readonly options: StoreCallOptions;
  readonly wait: OpenWait | undefined;
  /** Told once: the outcome, or undefined when the caller has given the call up. */
  readonly done: (outcome: Outcome | undefined) => void;
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
export class StoreCall implements OpenCall {
  readonly #port: SendPort;
  readonly #input: StoreCallInput;
  readonly #endsAtMs: number;
  #sending = 0;
  #epoch: bigint | undefined;
  #abort: AbortController | undefined;
  #retry: { readonly backoff: Backoff; timer: Timer | undefined } | undefined;
  #isOver = false;
  /** When it was last sent, on the port's clock. */
  sentAtMs = 0;

  constructor(port: SendPort, input: StoreCallInput) {
    this.#port = port;
    this.#input = input;
    this.#endsAtMs = port.clock.now() + input.options.deadlineMs;
  }

  get wait(): OpenWait | undefined {
    return this.#input.wait;
  }

  get partition(): number | undefined {
    return this.#input.partition;
  }

  /** Sends it, on the route of the owner if one is known. */
  send(): void {
    const { partition } = this.#input;
    this.#send(partition === undefined ? undefined : this.#port.routes.epochOf(partition));
  }

  /** Sends it again, because the owner does not know it. */
  sendAgain(): void {
    if (!this.#isOver) this.send();
  }

  /** The partition has another owner: what was sent to an earlier one may never be answered. */
  onMoved(): void {
    const { partition } = this.#input;
    if (this.#isOver || partition === undefined) return;
    if (this.#port.routes.epochOf(partition) !== this.#epoch) this.send();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#abort?.abort();
    this.#settle(undefined);
  }

  #send(epoch: bigint | undefined): void {
    const { options, partition, request, send, wait } = this.#input;
    this.#retry?.timer?.cancel();
    this.#sending += 1;
    const isFirst = this.#sending === 1;
    const sending = this.#sending;
    this.#epoch = epoch;
    this.sentAtMs = this.#port.clock.now();
    const replaced = this.#abort;
    if (wait !== undefined) this.#abort = new AbortController();
    send(wait === undefined || isFirst ? request : wait.request(), {
      deadlineMs: isFirst ? options.deadlineMs : Math.max(1, this.#endsAtMs - this.sentAtMs),
      principal: options.principal,
      trace: options.trace,
      signal: this.#abort?.signal,
      route: epoch === undefined || partition === undefined ? undefined : this.#port.routes.routeOf(partition),
    }).then(
      (response) => this.#onResponse(sending, response),
      (thrown: unknown) => this.#onFault(sending, toFault(thrown)),
    );
    // Only after the new sending: an owner that has both keeps the wait's place.
    replaced?.abort();
  }

  #onResponse(sending: number, response: Uint8Array): void {
    if (sending === this.#sending && !this.#isOver) this.#settle(response);
  }

  #onFault(sending: number, fault: Fault): void {
    if (sending !== this.#sending || this.#isOver) return;
    const { partition, wait } = this.#input;
    const isOwnerGone = fault.code === "UNAVAILABLE" && !finalReasons.has(fault.reason);
    if (isOwnerGone && this.#epoch !== undefined && partition !== undefined) {
      this.#port.routes.drop(partition, this.#epoch);
      this.#send(undefined);
    } else if (wait !== undefined && fault.code === "UNAVAILABLE" && !finalForWaits.has(fault.reason)) {
      this.#sendLater(fault);
    } else this.#settle(fault);
  }

  /** A wait outlives outages: it is tried again until its deadline. */
  #sendLater(fault: Fault): void {
    const { clock } = this.#port;
    this.#retry ??= { backoff: this.#port.backoff(), timer: undefined };
    const pauseMs = this.#retry.backoff.next();
    if (clock.now() + pauseMs >= this.#endsAtMs) this.#settle(fault);
    else this.#retry.timer = clock.schedule(pauseMs, () => this.sendAgain());
  }

  #settle(outcome: Outcome | undefined): void {
    this.#isOver = true;
    this.#retry?.timer?.cancel();
    this.#input.done(outcome);
  }
}
