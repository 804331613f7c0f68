import type { PackedRefusal, SessionPush, SessionReply, SessionServiceSessionResponse } from "@tenure/contracts";
import { afterPromises } from "@tenure/kernel";
import { joinPacked } from "./renewal-groups.ts";

/** Replies and refusals of one message, and their bytes: a client's default limit is 4 MiB for a message. */
const mostPartsPerMessage = 1_000;
const mostBytesPerMessage = 256 * 1024;
/** What a refusal takes, about; refusals of a whole partition share one text. */
const refusalBytes = 200;
const replyBytes = 16;
const alsoBytes = 4;

/** A reply that other streams may still join. */
interface QueuedReply extends SessionReply {
  readonly also: bigint[];
}

/** Where messages go. */
export interface OutboxPort {
  /** Takes one message; `false` when no more should be sent until the transport has drained. */
  send(message: SessionServiceSessionResponse): boolean;
  /** More than `mostQueuedBytes` wait for a transport that is full. Told at the end of the turn in which they came. */
  onTooMuch(queuedBytes: number): void;
  readonly mostQueuedBytes: number;
}

/**
 * Gathers what a session has to say and says it in few messages: the answers that came from the bus in one read go out
 * together. While the transport is full everything waits here, and `queuedBytes` says how much that is.
 */
export class Outbox {
  readonly #port: OutboxPort;
  readonly #replies: QueuedReply[] = [];
  readonly #acks: Uint8Array[] = [];
  readonly #refusals: PackedRefusal[] = [];
  readonly #pushes: SessionPush[] = [];
  #queuedBytes = 0;
  #isScheduled = false;
  #isFull = false;
  #isClosed = false;
  /** The highest number received from the client; told with every message. */
  receivedNumber = 0n;
  /** How many messages were sent. */
  sent = 0;
  /** Whether a response that several streams get, one after the other, is said once. */
  isSharing = false;

  constructor(port: OutboxPort) {
    this.#port = port;
  }

  /** About how much waits to be sent. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  reply(number: bigint, outcome: SessionReply["outcome"], end: boolean): void {
    const last = this.isSharing && !end ? this.#replies.at(-1) : undefined;
    if (last !== undefined && !last.end && isSameResponse(last, outcome)) {
      last.also.push(number);
      this.#queuedBytes += alsoBytes;
    } else {
      const reply = { number, outcome, end, also: [] };
      this.#replies.push(reply);
      this.#queuedBytes += bytesOf(reply);
    }
    this.#schedule();
  }

  acks(packed: Uint8Array): void {
    this.#acks.push(packed);
    this.#queuedBytes += packed.length;
    this.#schedule();
  }

  refuse(refusals: readonly PackedRefusal[]): void {
    for (const refusal of refusals) this.#refusals.push(refusal);
    this.#queuedBytes += refusals.length * refusalBytes;
    this.#schedule();
  }

  push(push: SessionPush): void {
    this.#pushes.push(push);
    this.#queuedBytes += refusalBytes;
    this.#schedule();
  }

  /** Sends a message of its own, such as a greeting, after all that was added before. */
  say(message: Partial<SessionServiceSessionResponse>): void {
    this.flush();
    this.#send(message);
  }

  /** The transport takes messages again. */
  onDrain(): void {
    this.#isFull = false;
    this.flush();
  }

  /** Sends all that was added, unless the transport is full. */
  flush(): void {
    while (this.#queuedBytes > 0 && !this.#isFull && !this.#isClosed) this.#sendSome();
  }

  /** Says nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#replies.length = 0;
    this.#acks.length = 0;
    this.#refusals.length = 0;
    this.#pushes.length = 0;
    this.#queuedBytes = 0;
  }

  /** Its turn to say what was added. */
  onTurn(): void {
    this.#isScheduled = false;
    this.flush();
    if (this.#queuedBytes > this.#port.mostQueuedBytes) this.#port.onTooMuch(this.#queuedBytes);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    if (speaking.length === 0) afterPromises(letSpeak);
    speaking.push(this);
  }

  #sendSome(): void {
    const replies = this.#take(this.#replies, bytesOf);
    const refusals = this.#take(this.#refusals, sizeOfRefusal);
    const pushes = this.#take(this.#pushes, sizeOfRefusal);
    const acks = this.#take(this.#acks, sizeOfAcks);
    this.#send({ replies, refusals, pushes, renewalAcks: acks.length === 0 ? noBytes : joinPacked(acks) });
  }

  /** The first of what waits, as much as one message may carry of it, and at least one. */
  #take<Part>(waiting: Part[], sizeOf: (part: Part) => number): Part[] {
    if (waiting.length === 0) return [];
    let count = 0;
    let bytes = 0;
    for (const part of waiting) {
      if (count === mostPartsPerMessage || bytes > mostBytesPerMessage) break;
      bytes += sizeOf(part);
      count += 1;
    }
    this.#queuedBytes -= bytes;
    return waiting.splice(0, count);
  }

  #send(parts: Partial<SessionServiceSessionResponse>): void {
    if (this.#isClosed) return;
    this.sent += 1;
    this.#isFull = !this.#port.send({
      welcome: parts.welcome,
      replies: parts.replies ?? [],
      renewalAcks: parts.renewalAcks ?? noBytes,
      refusals: parts.refusals ?? [],
      pushes: parts.pushes ?? [],
      goodbye: parts.goodbye,
      receivedNumber: this.receivedNumber,
    });
  }
}

/** Those that have something to say in this turn: one microtask is for all of them, as a thousand renewals may be. */
let speaking: Outbox[] = [];

function letSpeak(): void {
  const all = speaking;
  speaking = [];
  for (const outbox of all) outbox.onTurn();
}

const noBytes = new Uint8Array(0);

function sizeOfRefusal(): number {
  return refusalBytes;
}

function sizeOfAcks({ length }: Uint8Array): number {
  return length;
}

function bytesOf({ also, outcome }: SessionReply): number {
  const bytes = outcome?.$case === "response" ? outcome.value.length : refusalBytes;
  return replyBytes + bytes + also.length * alsoBytes;
}

/** Watchers of one record are given the very same bytes. */
function isSameResponse({ outcome: last }: SessionReply, outcome: SessionReply["outcome"]): boolean {
  return last?.$case === "response" && outcome?.$case === "response" && last.value === outcome.value;
}
