import {
  Attempt,
  type Duration,
  durationFromMs,
  durationToMs,
  LeaseServiceAcquireRequest,
  Wait,
} from "@tenure/contracts";
import type { Clock } from "@tenure/kernel";
import { concat, malformedRequest, wireField, withoutWireFields, withWireField } from "./wire-field.ts";

const waitField = 4;
const timeoutField = 1;
const ageField = 2;
const beatField = 3;

/**
 * A claim that waits. When it is sent again, to another owner or to one that does not know it, it carries its age and
 * the newest beat of its claimant, so that it about keeps its place and its grant names that beat, and only what is left
 * of its timeout.
 */
export class OpenWait {
  readonly #request: Uint8Array;
  readonly #wait: Uint8Array;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #ageMs: number;
  readonly #timeoutMs: number | undefined;
  readonly #attempt: Attempt;
  #beatNumber: bigint;

  constructor(request: Uint8Array, wait: Uint8Array, clock: Clock) {
    this.#request = request;
    this.#wait = wait;
    this.#clock = clock;
    this.#startedAtMs = clock.now();
    const { age, beatNumber, timeout } = decoded(() => Wait.decode(wait));
    this.#ageMs = age === undefined ? 0 : durationToMs(age);
    this.#timeoutMs = timeout === undefined ? undefined : durationToMs(timeout);
    const rest = withoutWireFields(request, [1, 2, 3, waitField]);
    const { sendNumber } = decoded(() => LeaseServiceAcquireRequest.decode(rest));
    this.#beatNumber = beatNumber > sendNumber ? beatNumber : sendNumber;
    this.#attempt = decoded(() => Attempt.decode(wireField(request, 1) ?? new Uint8Array(0)));
  }

  /** The client id of the claim's attempt. */
  get clientId(): string {
    return this.#attempt.clientId;
  }

  /** The number of the claim's attempt. */
  get attemptNumber(): bigint {
    return this.#attempt.number;
  }

  /** The newest beat that is known of the claimant. */
  get beatNumber(): bigint {
    return this.#beatNumber;
  }

  /** The claimant has shown that it lives. */
  noteBeat(sendNumber: bigint): void {
    if (sendNumber > this.#beatNumber) this.#beatNumber = sendNumber;
  }

  /** The request as it is sent now. */
  request(): Uint8Array {
    const passedMs = Math.floor(this.#clock.now() - this.#startedAtMs);
    const age = durationFromMs(this.#ageMs + passedMs);
    const timeout = passedMs > 0 ? this.#leftOfTimeout(passedMs) : undefined;
    const aged = Wait.fromPartial({ age, beatNumber: this.#beatNumber, timeout });
    const replaced = timeout === undefined ? [ageField, beatField] : [timeoutField, ageField, beatField];
    const wait = concat([withoutWireFields(this.#wait, replaced), Wait.encode(aged).finish()]);
    return withWireField(this.#request, waitField, wait);
  }

  #leftOfTimeout(passedMs: number): Duration | undefined {
    const wholeMs = this.#timeoutMs;
    // A timeout that breaks the rules is the owner's to refuse, as it was sent.
    return wholeMs === undefined || wholeMs <= 0 ? undefined : durationFromMs(Math.max(1, wholeMs - passedMs));
  }
}

function decoded<Message>(decode: () => Message): Message {
  try {
    return decode();
  } catch (cause) {
    throw malformedRequest(cause);
  }
}
