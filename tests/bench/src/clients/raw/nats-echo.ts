import type { Bus } from "@tenure/bus";
import { PartialClient } from "../partial-client.ts";
import { connectRaw } from "./connect.ts";

/** Where an echo process listens, and where it answers. */
export const echoSubjects = { there: "bench.echo.", back: "bench.back." } as const;

const payload = Buffer.alloc(100, 7);

/** Round trips over NATS to another process and back, answered in the order in which they were asked. */
export class NatsEcho extends PartialClient {
  readonly #bus: Bus;
  readonly #subject: string;
  readonly #waiting: (() => void)[] = [];

  private constructor(bus: Bus) {
    super();
    this.#bus = bus;
    this.#subject = `${echoSubjects.there}${bus.instance}`;
    bus.subscribe(`${echoSubjects.back}${bus.instance}`, () => this.#waiting.shift()?.());
  }

  static async open(url: string): Promise<NatsEcho> {
    return new NatsEcho(await connectRaw(url));
  }

  override pair(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#bus.publish(this.#subject, payload);
    });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#bus.drain();
  }
}
