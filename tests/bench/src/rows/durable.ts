import type { Benchmark, Row } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const inFlight = 256;
const alone = " (1 in flight)";
const clients: readonly ClientName[] = ["tenure-grpc", "tenure-nats", "etcd-grpc"];

const settings = [
  "one client process, one connection, values of 16 bytes; every server syncs every write before it counts",
  "Tenure: guard.put, the only kind of write there is; etcd: a plain put, its cheapest write",
];

/** Durable writes on one server. */
export const durableOnOne: Benchmark = {
  name: "durable-1",
  summary: `durable writes on one server, ${inFlight} in flight`,
  settings: () => settings,
  sides: sidesFor(1),
  rows: rowsFor(),
};

/** Durable writes on three servers. */
export const durableOnThree: Benchmark = {
  name: "durable-3",
  summary: `durable writes on three servers, ${inFlight} in flight`,
  settings: () => settings,
  sides: sidesFor(3),
  rows: rowsFor(3),
};

function sidesFor(servers: 1 | 3): Benchmark["sides"] {
  return [
    ...sidesOf(clients, { kind: "writes", inFlight, isGuarded: false }, "", servers),
    ...sidesOf(["tenure-grpc", "etcd-grpc"], { kind: "writes", inFlight: 1, isGuarded: false }, alone, servers),
  ];
}

function rowsFor(atLeast?: number): readonly Row[] {
  return [
    ratioRow(
      {
        name: "rate against etcd",
        measures: "writes a second, SDK over gRPC against etcd through grpc-js",
        figure: "rate",
        of: "tenure-grpc",
        to: "etcd-grpc",
      },
      atLeast === undefined ? undefined : { atLeast },
    ),
    ratioRow({
      name: "rate over NATS against etcd",
      measures: "writes a second, SDK over NATS against etcd through grpc-js",
      figure: "rate",
      of: "tenure-nats",
      to: "etcd-grpc",
    }),
    ratioRow({
      name: "p50, one in flight",
      measures: "time of one write, SDK over gRPC against etcd through grpc-js",
      figure: "p50Ms",
      of: `tenure-grpc${alone}`,
      to: `etcd-grpc${alone}`,
    }),
  ];
}
