import type { EngineParts } from "@tenure/session";
import { Counter, Gauge, type Registry } from "prom-client";
import type { ConnectionLimits } from "./front/connection-limits.ts";
import { type Verb, verbs } from "./policy/rights.ts";
import type { StoreReads } from "./watch/store-reads.ts";

/** What is counted. */
export interface CountedParts extends Pick<EngineParts, "engine" | "renewals"> {
  readonly connections: ConnectionLimits;
  readonly reads: Pick<StoreReads, "watches" | "revision">;
}

/** What a gateway counts beside what every service does. */
export function gatewayMetrics(registry: Registry, { connections, engine, reads, renewals }: CountedParts): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  gauge("tenure_sessions", "Sessions that are open.", () => engine.sessions);
  gauge("tenure_session_calls", "Calls of sessions that are open.", () => engine.openCalls);
  gauge("tenure_queued_renewals", "Renewals that wait to be sent to an owner.", () => renewals.queuedHolds);
  gauge("tenure_watchers", "Watches that are open.", () => reads.watches);
  gauge("tenure_revision", "Everything up to this log position has been read.", () => Number(reads.revision));
  gauge("tenure_connections", "Connections that made a call lately or have one open.", () => connections.size);
}

/** Counts calls that the policy denied; returns what is told the verb of each. */
export function deniedCalls(registry: Registry): (verb: Verb) => void {
  const denied = new Counter({
    name: "tenure_gateway_denied_calls_total",
    help: "Calls that no rule of the policy allowed, by the verb that they needed.",
    labelNames: ["verb"],
    registers: [registry],
  });
  // From the start, so that the first denial is seen as a rise.
  for (const verb of verbs) denied.inc({ verb }, 0);
  return (verb) => denied.inc({ verb });
}
