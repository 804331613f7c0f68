import type { Bus } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import type { Logger } from "pino";
import type { Health } from "./health.ts";
import type { RuntimeMetrics } from "./metrics.ts";

/** Who must hear about the connection. */
export interface BusFollower {
  readonly health: Health;
  readonly metrics: Pick<RuntimeMetrics, "natsConnected" | "natsReconnects">;
  readonly log: Logger;
  /** The connection will not come back by itself: the service cannot go on. */
  onClosed(fault: Fault): void;
}

/** The readiness condition of the connection. */
const condition = "nats";

/**
 * Tells readiness, metrics and log the truth about the connection, until the returned function is called. A lost
 * connection makes the service not ready and nothing more: it comes back by itself, and a restart would not help.
 */
export function followBus(bus: Pick<Bus, "connected" | "onStatus">, follower: BusFollower): () => void {
  const { health, metrics, log } = follower;
  const tell = (connected: boolean): void => {
    metrics.natsConnected.set(connected ? 1 : 0);
    health.set(condition, connected, "the connection to NATS is lost, and is tried again for ever");
  };
  tell(bus.connected);
  return bus.onStatus((status) => {
    tell(status === "connected");
    if (status === "connected") {
      metrics.natsReconnects.inc();
      log.info("connected to NATS again");
    } else if (status === "disconnected") {
      log.warn("lost the connection to NATS");
    } else {
      follower.onClosed(closedFault());
    }
  });
}

function closedFault(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "NATS_CLOSED",
    message: "NATS ended the connection for good: check that this service's credential is still accepted",
  });
}
