import type { Benchmark } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const inFlight = 64;

const against = (of: ClientName, to: ClientName, atLeast?: number) =>
  ratioRow(
    {
      name: `${of} against ${to}`,
      measures: `acquire + release pairs a second, ${of} against ${to}`,
      figure: "rate",
      of,
      to,
    },
    atLeast === undefined ? undefined : { atLeast },
  );

/** Leases that are free, taken and given back. */
export const pairs: Benchmark = {
  name: "pairs",
  summary: `acquire + release pairs of free leases, ${inFlight} in flight, each on a lease of its own`,
  settings: () => [
    "one client process, one connection; every acquire and release is synced before it is answered, on every side",
    "Tenure: lock and release of the SDK; etcd: grant + create in a transaction + revoke; ZooKeeper: create + delete of an ephemeral node",
    "etcd-grpc: through grpc-js; etcd-http2: frames written by hand on node:http2; ZooKeeper: pipelined, the requests of a turn in one write",
  ],
  sides: sidesOf(["tenure-grpc", "tenure-nats", "etcd-grpc", "etcd-http2", "zookeeper"], { kind: "pairs", inFlight }),
  rows: [
    against("tenure-grpc", "etcd-grpc", 3),
    against("tenure-nats", "etcd-grpc", 6),
    against("tenure-grpc", "zookeeper", 1),
    against("tenure-nats", "zookeeper", 2),
    against("tenure-grpc", "etcd-http2"),
    against("tenure-nats", "etcd-http2"),
  ],
};
