import type { PackedRefusal, SessionPush, SessionReply, SessionServiceSessionResponse } from "@tenure/contracts";
import { joinPacked } from "./renewal-groups.ts";

/** Replies and refusals of one message, and their bytes: a client's default limit is 4 MiB for a message. */
const mostPartsPerMessage = 1_000;
const mostBytesPerMessage = 256 * 1024;
/** What a refusal takes, about; refusals of a whole partition share one text. */
const refusalBytes = 200;
const replyBytes = 16;

/** Takes one message; `false` when no more should be sent until the transport has drained. */
export type SendMessage = (message: SessionServiceSessionResponse) => boolean;

/**
 * Gathers what a session has to say and says it in few messages: the answers that came from the bus in one read go out
 * together. While the transport is full everything waits here, and `queuedBytes` says how much that is.
 */
export class Outbox {
  readonly #sendMessage: SendMessage;
  #replies: SessionReply[] = [];
  #acks: Uint8Array[] = [];
  #refusals: PackedRefusal[] = [];
  #pushes: SessionPush[] = [];
  #queuedBytes = 0;
  #isScheduled = false;
  #isFull = false;
  #isClosed = false;
  /** The highest number received from the client; told with every message. */
  receivedNumber = 0n;
  /** How many messages were sent. */
  sent = 0;

  constructor(sendMessage: SendMessage) {
    this.#sendMessage = sendMessage;
  }

  /** About how much waits to be sent. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  reply(reply: SessionReply): void {
    this.#replies.push(reply);
    const { outcome } = reply;
    this.#queuedBytes += replyBytes + (outcome?.$case === "response" ? outcome.value.length : refusalBytes);
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
    this.#replies = [];
    this.#acks = [];
    this.#refusals = [];
    this.#pushes = [];
    this.#queuedBytes = 0;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  #sendSome(): void {
    const replies = this.#takeReplies();
    const refusals = this.#refusals.splice(0, mostPartsPerMessage);
    const pushes = this.#pushes.splice(0, mostPartsPerMessage);
    const renewalAcks = joinPacked(this.#acks);
    this.#acks = [];
    const isEmpty = this.#replies.length + this.#refusals.length + this.#pushes.length === 0;
    if (isEmpty) this.#queuedBytes = 0;
    this.#send({ replies, refusals, pushes, renewalAcks });
  }

  #takeReplies(): SessionReply[] {
    let count = 0;
    let bytes = 0;
    for (const { outcome } of this.#replies) {
      if (count === mostPartsPerMessage || (bytes > mostBytesPerMessage && count > 0)) break;
      bytes += replyBytes + (outcome?.$case === "response" ? outcome.value.length : refusalBytes);
      count += 1;
    }
    this.#queuedBytes -= bytes;
    if (count < this.#replies.length) return this.#replies.splice(0, count);
    const all = this.#replies;
    this.#replies = [];
    return all;
  }

  #send(parts: Partial<SessionServiceSessionResponse>): void {
    if (this.#isClosed) return;
    this.sent += 1;
    const message = {
      welcome: undefined,
      replies: [],
      renewalAcks: noBytes,
      refusals: [],
      pushes: [],
      goodbye: undefined,
      ...parts,
      receivedNumber: this.receivedNumber,
    };
    this.#isFull = !this.#sendMessage(message);
  }
}

const noBytes = new Uint8Array(0);
