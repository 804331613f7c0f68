import type { Benchmark } from "../benchmark.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const many = 10_000;
const few = [1, 100];

/** Keep-alives of leases that one process holds. */
export const renewals: Benchmark = {
  name: "renewals",
  summary: "keep-alives of leases that one process holds, as many as it can make",
  settings: () => [
    "Tenure: every renewal is in the synced log when it is acknowledged; the SDK renews all leases of a process in one message, from its renewing thread (the default); the next message when all are acknowledged",
    "etcd: one LeaseKeepAlive stream with 1,000 renewals under way (as many as there are leases if fewer); kept in the leader's memory, not in its log",
    "etcd-grpc: through grpc-js; etcd-http2: gRPC's frames written by hand on node:http2, those of a turn in one write",
  ],
  sides: [
    ...sidesOf(["tenure-grpc", "tenure-nats", "etcd-grpc", "etcd-http2"], { kind: "renewals", leases: many }),
    ...few.flatMap((leases) => sidesOf(["tenure-grpc", "etcd-grpc"], { kind: "renewals", leases }, ` (${leases})`)),
  ],
  rows: [
    ratioRow(
      {
        name: "against etcd through grpc-js",
        measures: "renewals a second of 10,000 leases in one process, SDK over gRPC, durable, against LeaseKeepAlive",
        figure: "rate",
        of: "tenure-grpc",
        to: "etcd-grpc",
      },
      { atLeast: 10 },
    ),
    ratioRow(
      {
        name: "against etcd's fastest client",
        measures: "the same, against LeaseKeepAlive through hand-framed HTTP/2",
        figure: "rate",
        of: "tenure-grpc",
        to: "etcd-http2",
      },
      { atLeast: 2 },
    ),
    ratioRow(
      {
        name: "CPU of the servers",
        measures: "CPU of all server processes per 1,000 renewals, 10,000 leases in one process",
        figure: "cpu servers",
        of: "tenure-grpc",
        to: "etcd-http2",
      },
      { atMost: 0.5 },
    ),
    ratioRow({
      name: "over NATS",
      measures: "renewals a second of 10,000 leases, SDK over NATS, against etcd through grpc-js",
      figure: "rate",
      of: "tenure-nats",
      to: "etcd-grpc",
    }),
    ...few.map((leases) =>
      ratioRow({
        name: `${leases === 1 ? "one lease" : `${leases} leases`}, p50`,
        measures: `time from the send of the renewals of ${leases} to the acknowledgement`,
        figure: "p50Ms",
        of: `tenure-grpc (${leases})`,
        to: `etcd-grpc (${leases})`,
      }),
    ),
  ],
};
