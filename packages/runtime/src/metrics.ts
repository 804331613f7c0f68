import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Health } from "./health.ts";
import { productVersion } from "./version.ts";

/** What the runtime itself counts. A service adds its own metrics to `registry`. */
export interface RuntimeMetrics {
  readonly registry: Registry;
  readonly natsConnected: Gauge;
  readonly natsReconnects: Counter;
}

/**
 * How often the delay of the event loop is measured. The default of 10 ms is a hundred wake-ups a second for a process that
 * has nothing to do; stalls that matter are of hundreds of ms, and what is measured includes this much.
 */
const eventLoopMonitoringPrecision = 50;

/** A registry of its own for one process, with Node's and the runtime's metrics; `service` labels every line. */
export function createMetrics(service: string, health: Health): RuntimeMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  new Gauge({
    name: "tenure_build_info",
    help: "1, labelled with the version of Tenure and of Node.js that this process runs.",
    labelNames: ["version", "node"],
    registers: [registry],
  }).set({ version: productVersion, node: process.versions.node }, 1);
  new Gauge({
    name: "tenure_ready",
    help: "1 when /readyz answers 200, else 0.",
    registers: [registry],
    collect() {
      this.set(health.ready ? 1 : 0);
    },
  });
  const natsConnected = new Gauge({
    name: "tenure_nats_connected",
    help: "1 while the connection to NATS stands, else 0.",
    registers: [registry],
  });
  const natsReconnects = new Counter({
    name: "tenure_nats_reconnects_total",
    help: "How often the connection to NATS came back after it was lost.",
    registers: [registry],
  });
  return { registry, natsConnected, natsReconnects };
}
