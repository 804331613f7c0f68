import type { Benchmark } from "../benchmark.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const inFlight = 64;
const alone = " (1 in flight)";

/** Writes that are refused unless the writer holds its lease. */
export const guarded: Benchmark = {
  name: "guarded",
  summary: `writes under a lease, ${inFlight} in flight, each writer with a lease of its own`,
  settings: () => [
    "one client process, one connection, values of 16 bytes; every write is synced before it is answered, on every side",
    "Tenure: guard.put of a term; etcd: a transaction that compares the lease of the lock's key and puts",
  ],
  sides: [
    ...sidesOf(["tenure-grpc", "tenure-nats", "etcd-grpc", "etcd-http2"], {
      kind: "writes",
      inFlight,
      isGuarded: true,
    }),
    ...sidesOf(["tenure-grpc", "etcd-grpc"], { kind: "writes", inFlight: 1, isGuarded: true }, alone),
  ],
  rows: [
    ratioRow(
      {
        name: "against etcd",
        measures: "guarded writes a second, SDK over gRPC against etcd through grpc-js",
        figure: "rate",
        of: "tenure-grpc",
        to: "etcd-grpc",
      },
      { atLeast: 3 },
    ),
    ratioRow({
      name: "over NATS against etcd",
      measures: "guarded writes a second, SDK over NATS against etcd through grpc-js",
      figure: "rate",
      of: "tenure-nats",
      to: "etcd-grpc",
    }),
    ratioRow({
      name: "against etcd's fastest client",
      measures: "guarded writes a second, SDK over gRPC against etcd through hand-framed HTTP/2",
      figure: "rate",
      of: "tenure-grpc",
      to: "etcd-http2",
    }),
    ratioRow({
      name: "p50, one in flight",
      measures: "time of one guarded write, SDK over gRPC against etcd through grpc-js",
      figure: "p50Ms",
      of: `tenure-grpc${alone}`,
      to: `etcd-grpc${alone}`,
    }),
  ],
};
