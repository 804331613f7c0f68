import { jetstream } from "@nats-io/jetstream";
import { createInbox } from "@nats-io/nats-core";
import type { Bus } from "@tenure/bus";

/**
 * A new reply subject under the connection's own prefix. A user may subscribe only there, so nobody else sees the
 * answers. The client does not show a connection's prefix, except as the default of its JetStream options.
 */
export function privateInbox(bus: Bus): string {
  return createInbox(jetstream(bus.nats).getOptions().watcherPrefix);
}
