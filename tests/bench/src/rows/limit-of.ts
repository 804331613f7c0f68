import type { Limit } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import type { Workload } from "../workloads/index.ts";
import { systemOf } from "../world/client-side.ts";

/** The sides of `limits` that other figures are a share of. */
export const limitSides = {
  pairs: "raw-log (pairs)",
  writes: (inFlight: number) => `raw-log (${inFlight} in flight)`,
  grpc: "raw-grpc-stream (1 in flight)",
};

/**
 * What bounds a side: with much in flight the rate of a process that does nothing but append, one after the other its time
 * and, over gRPC, a round trip to the gateway. Nothing for peers, which have another log, for a log with three copies, and
 * for renewals that travel packed.
 */
export function limitOf(client: ClientName, workload: Workload, servers: 1 | 3): Limit | undefined {
  if (systemOf(client) !== "tenure" || servers !== 1) return undefined;
  const gateway = client === "tenure-grpc" ? [limitSides.grpc] : [];
  const alone: Limit = { figure: "p50Ms", sides: [limitSides.writes(1), ...gateway] };
  switch (workload.kind) {
    case "pairs":
      return { figure: "rate", sides: [limitSides.pairs] };
    case "writes":
      return workload.inFlight === 1 ? alone : { figure: "rate", sides: [limitSides.writes(workload.inFlight)] };
    case "hand-overs":
    case "watches":
      return alone;
    case "renewals":
      return workload.leases === 1 ? alone : undefined;
    default:
      return undefined;
  }
}
