import type { SessionCall, SessionReply } from "@tenure/contracts";
import { durationFromMs, faultFromFailure } from "@tenure/contracts";
import { NumberedItems } from "@tenure/kernel";
import { errorFromFault, TenureError, toTenureError } from "../errors.ts";

/** One call as the stream carries it: sent once, answered at most once, or as a stream of responses. */
export interface WireCall {
  /** `<Service>.<Method>`. */
  readonly method: string;
  readonly traceparent: string;
  /** How many responses of a server stream may be under way; 0 for a unary call. */
  readonly credit: number;
  /** The number under which it is open, {@link isQueued} while it waits to be sent, else 0. The table's own. */
  number: number;
  /** Encodes the request for the message with this number. Called once, when it is sent. */
  encode(sendNumber: bigint): Uint8Array;
  /** It is sent now: how long the server may take from here on; undefined leaves it to the server. */
  serverTimeoutMs(nowMs: number): number | undefined;
  /** A response. For a unary call it is the only one. */
  onResponse(bytes: Uint8Array): void;
  /** A server stream has ended cleanly. */
  onEnd(): void;
  /** The service refused it. */
  onFailure(error: TenureError): void;
  /** The stream broke after it was sent and before it was over. */
  onBroken(error: TenureError): void;
}

/** What one message may take. */
export interface MessageRoom {
  readonly maxBytes: number;
  readonly maxOpenCalls: number;
}

/** The most calls that one message may carry, by the protocol. */
const maxCallsPerMessage = 1_000;
/** What a call costs in a message beside its request: method, numbers, timeout and trace. */
const callOverheadBytes = 160;

/** Calls that were given up are taken out of the queue when they are so many more than those that wait. */
const mostGivenUp = 64;

/** The number of a call that waits to be sent. */
export const isQueued = -1;

/** The calls of a session: those that wait to be sent, and those that were sent and are not over. */
export class CallTable {
  /** In the order in which they came, with some that were given up meanwhile. */
  #queue: WireCall[] = [];
  #queuedCount = 0;
  readonly #open = new NumberedItems<WireCall>();
  #cancels: bigint[] = [];
  #lastNumber = 0;

  get openCount(): number {
    return this.#open.size;
  }

  get queuedCount(): number {
    return this.#queuedCount;
  }

  /** Whether there is something for the next message. */
  hasWork(maxOpenCalls: number): boolean {
    return this.#cancels.length > 0 || (this.#queuedCount > 0 && this.#open.size < maxOpenCalls);
  }

  add(call: WireCall): void {
    if (call.number === isQueued) return;
    call.number = isQueued;
    this.#queue.push(call);
    this.#queuedCount += 1;
  }

  /** Gives a call up: it is not sent, or the server is told. */
  drop(call: WireCall): void {
    const { number } = call;
    call.number = 0;
    if (number === isQueued) {
      this.#queuedCount -= 1;
      // While there is no stream nothing else takes them out.
      if (this.#queue.length > 2 * this.#queuedCount + mostGivenUp) this.#queue = this.#queue.filter(isWaiting);
    } else if (this.#open.delete(number) !== undefined) this.#cancels.push(BigInt(number));
  }

  /** What was given up since the last message. */
  takeCancels(): bigint[] {
    const cancels = this.#cancels;
    this.#cancels = [];
    return cancels;
  }

  /** The calls for a message that is sent now and has `usedBytes` already, as many as fit. */
  take(sendNumber: bigint, nowMs: number, room: MessageRoom, usedBytes = 0): SessionCall[] {
    const calls: SessionCall[] = [];
    const queue = this.#queue;
    let bytes = usedBytes;
    let seen = 0;
    for (; seen < queue.length; seen += 1) {
      const call = queue[seen];
      if (call?.number !== isQueued) continue;
      if (calls.length >= maxCallsPerMessage || this.#open.size >= room.maxOpenCalls || bytes >= room.maxBytes) break;
      const request = this.#encode(call, sendNumber, room.maxBytes);
      if (request === undefined) continue;
      // A request that is too large for what is left goes first in the next message, encoded anew.
      if (bytes + request.length + callOverheadBytes > room.maxBytes) break;
      bytes += request.length + callOverheadBytes;
      calls.push(this.#sent(call, request, nowMs));
    }
    // Unless what waits was put together anew meanwhile: then those that are sent now are passed over next time.
    if (this.#queue === queue) this.#queue = queue.slice(seen);
    return calls;
  }

  onReply({ also, end, number, outcome }: SessionReply): void {
    this.#onOutcome(Number(number), outcome, end);
    for (const one of also) this.#onOutcome(Number(one), outcome, end);
  }

  /** The stream is gone: what it carried learns so, in the order of the sends; what waits goes on waiting. */
  onBroken(error: TenureError): void {
    const open = [...this.#open.entries()].sort(([one], [other]) => one - other);
    this.#open.clear();
    this.#cancels = [];
    for (const [, call] of open) call.number = 0;
    for (const [, call] of open) call.onBroken(error);
  }

  /** Everything is over: what waits and what was sent. */
  failAll(error: TenureError): void {
    const queued = this.#queue.filter(isWaiting);
    this.#queue = [];
    this.#queuedCount = 0;
    for (const call of queued) call.number = 0;
    for (const call of queued) call.onFailure(error);
    this.onBroken(error);
  }

  #onOutcome(number: number, outcome: SessionReply["outcome"], end: boolean): void {
    const isOver = end || outcome?.$case === "failure";
    const call = isOver ? this.#open.delete(number) : this.#open.get(number);
    if (call === undefined) return;
    if (isOver) call.number = 0;
    if (outcome?.$case === "failure") {
      call.onFailure(errorFromFault(faultFromFailure(outcome.value)));
      return;
    }
    if (outcome?.$case === "response") call.onResponse(outcome.value);
    if (end) call.onEnd();
  }

  /** The request's bytes; undefined if it has none that could ever be sent, and then its caller knows. */
  #encode(call: WireCall, sendNumber: bigint, maxBytes: number): Uint8Array | undefined {
    try {
      const request = call.encode(sendNumber);
      if (request.length + callOverheadBytes <= maxBytes) return request;
      throw tooLarge(call.method, request.length, maxBytes);
    } catch (thrown) {
      this.drop(call);
      call.onFailure(toTenureError(thrown));
      return undefined;
    }
  }

  #sent(call: WireCall, request: Uint8Array, nowMs: number): SessionCall {
    this.#queuedCount -= 1;
    this.#lastNumber += 1;
    call.number = this.#lastNumber;
    this.#open.set(call.number, call);
    const { credit, method, traceparent } = call;
    const timeoutMs = call.serverTimeoutMs(nowMs);
    const timeout = timeoutMs === undefined ? undefined : durationFromMs(timeoutMs);
    return { number: BigInt(call.number), method, request, timeout, traceparent, credit };
  }
}

function isWaiting({ number }: WireCall): boolean {
  return number === isQueued;
}

function tooLarge(method: string, bytes: number, maxBytes: number): TenureError {
  return new TenureError({
    code: "RESOURCE_EXHAUSTED",
    reason: "PAYLOAD_TOO_LARGE",
    message: `the request of ${method} has ${bytes} bytes, and the service takes messages of ${maxBytes} bytes at most`,
    applied: "NO",
  });
}
