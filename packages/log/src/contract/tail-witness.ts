import type { LogTransport, Tail, TailListener } from "../log-transport.ts";

/** Follows a log and keeps what it was told, in order. */
export class TailWitness implements TailListener, AsyncDisposable {
  readonly messages: { readonly partition: number; readonly sequence: bigint; readonly payload: Uint8Array }[] = [];
  readonly caughtUp: number[] = [];
  readonly resets: { readonly partition: number; readonly why: string }[] = [];
  /** How many messages had been told at each `onCaughtUp`. */
  readonly messagesAtCaughtUp: number[] = [];
  readonly tail: Tail;
  readonly #restMs: number;

  constructor(transport: Pick<LogTransport, "tail">, from: ReadonlyMap<number, bigint>, restMs = 0) {
    this.#restMs = restMs;
    this.tail = transport.tail(from, this);
  }

  restMs(): number {
    return this.#restMs;
  }

  onMessage(partition: number, sequence: bigint, payload: Uint8Array): void {
    this.messages.push({ partition, sequence, payload: payload.slice() });
  }

  onCaughtUp(partition: number): void {
    this.caughtUp.push(partition);
    this.messagesAtCaughtUp.push(this.messages.length);
  }

  onReset(partition: number, why: string): void {
    this.resets.push({ partition, why });
  }

  /** What was told of a partition. */
  sequences(partition: number): readonly bigint[] {
    return this.messages.flatMap((message) => (message.partition === partition ? [message.sequence] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tail[Symbol.asyncDispose]();
  }
}
