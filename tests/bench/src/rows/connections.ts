import type { Benchmark } from "../benchmark.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const connectionCount = 1_000;

/** Keep-alives of many clients with one lease each. */
export const connections: Benchmark = {
  name: "connections",
  summary: "keep-alives over 1,000 connections with one lease each, one under way on each",
  settings: () => [
    "all connections belong to one client process on the servers' machine",
    "Tenure: SDK over gRPC, renewing in the main thread (a thread for each of 1,000 clients would measure threads); durable",
    "etcd: a LeaseKeepAlive stream for each connection, in memory",
  ],
  sides: sidesOf(["tenure-grpc", "etcd-grpc", "etcd-http2"], { kind: "connections", connections: connectionCount }),
  rows: [
    ratioRow(
      {
        name: "against etcd",
        measures: "renewals a second, the SDK against etcd through grpc-js",
        figure: "rate",
        of: "tenure-grpc",
        to: "etcd-grpc",
      },
      { atLeast: 1 },
    ),
    ratioRow({
      name: "against etcd's fastest client",
      measures: "the SDK against etcd through gRPC's frames on node:http2",
      figure: "rate",
      of: "tenure-grpc",
      to: "etcd-http2",
    }),
    ratioRow({
      name: "CPU of the servers",
      measures: "CPU of all server processes per 1,000 renewals",
      figure: "cpu servers",
      of: "tenure-grpc",
      to: "etcd-grpc",
    }),
  ],
};
