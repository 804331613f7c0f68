import { Attempt, durationFromMs, durationToMs, LeaseServiceAcquireRequest, Wait } from "@tenure/contracts";
import type { Clock } from "@tenure/kernel";
import { concat, malformedRequest, wireField, withoutWireFields, withWireField } from "./wire-field.ts";

const waitField = 4;
const ageField = 2;
const beatField = 3;

/**
 * A claim that waits. When it is sent again, to another owner or to one that does not know it, it carries its age and
 * the newest beat of its claimant, so that it about keeps its place and its grant names that beat.
 */
export class OpenWait {
  readonly #request: Uint8Array;
  readonly #wait: Uint8Array;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #ageMs: number;
  readonly #attempt: Attempt;
  #beatNumber: bigint;

  constructor(request: Uint8Array, wait: Uint8Array, clock: Clock) {
    this.#request = request;
    this.#wait = wait;
    this.#clock = clock;
    this.#startedAtMs = clock.now();
    const { age, beatNumber } = decoded(() => Wait.decode(wait));
    this.#ageMs = age === undefined ? 0 : durationToMs(age);
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
    const aged = Wait.fromPartial({ age: durationFromMs(this.#ageMs + passedMs), beatNumber: this.#beatNumber });
    const wait = concat([withoutWireFields(this.#wait, [ageField, beatField]), Wait.encode(aged).finish()]);
    return withWireField(this.#request, waitField, wait);
  }
}

function decoded<Message>(decode: () => Message): Message {
  try {
    return decode();
  } catch (cause) {
    throw malformedRequest(cause);
  }
}
