import { Histogram, type Registry } from "prom-client";

/** Counts how long beats of identities take, over all instances; returns what is told of each. */
export function heartbeatMetrics(registry: Registry): (tookMs: number) => void {
  const seconds = new Histogram({
    name: "tenure_identity_heartbeat_seconds",
    help: "From the arrival of an identity's beat at this gateway to its commit in the log.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  return (tookMs) => seconds.observe(tookMs / 1_000);
}
