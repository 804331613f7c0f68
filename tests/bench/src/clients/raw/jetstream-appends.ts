import { type Bus, logSubject } from "@tenure/bus";
import { AppendChannel } from "@tenure/log";
import { PartialClient } from "../partial-client.ts";
import { connectRaw } from "./connect.ts";

const payload = Buffer.alloc(100, 7);
const timeoutMs = 30_000;

/** Single appends of 100 bytes with an expected sequence, one after the other on each subject: what a log costs at least. */
export class JetStreamAppends extends PartialClient {
  readonly #bus: Bus;
  readonly #channel: AppendChannel;
  readonly #last = new Map<number, bigint>();

  private constructor(bus: Bus) {
    super();
    this.#bus = bus;
    this.#channel = new AppendChannel(bus);
  }

  static async open(url: string): Promise<JetStreamAppends> {
    return new JetStreamAppends(await connectRaw(url));
  }

  override async pair(lane: number): Promise<void> {
    const expectedLastSubjectSequence = this.#last.get(lane) ?? 0n;
    const request = { subject: logSubject(lane), payload, expectedLastSubjectSequence, timeoutMs };
    const outcome = await this.#channel.append(request);
    if (outcome.kind === "acked") this.#last.set(lane, outcome.sequence);
    else if (outcome.lastSequence === undefined) throw new Error(`an append was refused: ${outcome.description}`);
    else this.#last.set(lane, outcome.lastSequence);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#channel[Symbol.dispose]();
    await this.#bus.drain();
  }
}
