import { PermissionViolationError } from "@nats-io/nats-core";
import type { Bus } from "@tenure/bus";

/** Watches a connection for what the server refuses. */
export class Violations {
  readonly #bus: Bus;
  readonly #refused = new Set<string>();

  constructor(bus: Bus) {
    this.#bus = bus;
    void this.#follow();
  }

  /** Publishes an empty message; false when the server refuses. */
  async mayPublish(subject: string): Promise<boolean> {
    this.#bus.nats.publish(subject);
    await this.#bus.nats.flush();
    return !(await this.#wasRefused(`publish ${subject}`));
  }

  /** Subscribes for a moment; false when the server refuses. */
  async maySubscribe(subject: string): Promise<boolean> {
    const subscription = this.#bus.nats.subscribe(subject, {
      callback: (error) => {
        if (error instanceof PermissionViolationError) this.#refused.add(`subscription ${error.subject}`);
      },
    });
    await this.#bus.nats.flush();
    const refused = await this.#wasRefused(`subscription ${subject}`);
    subscription.unsubscribe();
    return !refused;
  }

  /** The server's refusal comes before its answer to a flush; the client tells of it a moment later. */
  async #wasRefused(key: string): Promise<boolean> {
    await this.#bus.nats.flush();
    return this.#refused.has(key);
  }

  async #follow(): Promise<void> {
    for await (const status of this.#bus.nats.status()) {
      if (status.type === "error" && status.error instanceof PermissionViolationError)
        this.#refused.add(`${status.error.operation} ${status.error.subject}`);
    }
  }
}
