import type { Benchmark, Row, Target } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const one = " (1 waiter)";
const hundred = " (100 waiters)";
const clients: readonly ClientName[] = ["tenure-grpc", "tenure-nats", "etcd-grpc", "zookeeper", "raw-log"];
/** Between the moment when a holder knows and its release, where one waits: time enough to stand in line. */
const restMs = 10;

type Figure = "p50Ms" | "p99Ms" | "rate";

/** How soon the next in line knows. */
export const handOver: Benchmark = {
  name: "hand-over",
  summary: "from the send of a release to the moment when the next in line knows that it holds the lease",
  settings: () => [
    "holder and waiters are in one client process on one connection; every change is synced before it is answered",
    `1 waiter: ${restMs} ms of rest before each release; 100 waiters: the next release at once, and the old holder stands in line again`,
    "etcd: its own lock recipe, run by its server (v3lockpb); ZooKeeper: its lock recipe, a watch on the node before one's own",
    "raw-log: the bus with nothing of Tenure: a release is one synced append by another process, and once it is answered the next knows",
  ],
  sides: [
    ...sidesOf(clients, { kind: "hand-overs", waiters: 1, restMs }, one),
    ...sidesOf(clients, { kind: "hand-overs", waiters: 100, restMs: 0 }, hundred),
  ],
  rows: [
    against("etcd-grpc", one, "p50Ms", { atMost: 0.5 }),
    against("zookeeper", one, "p50Ms", { atMost: 0.5 }),
    ofBus("zookeeper", one, "p50Ms"),
    against("etcd-grpc", hundred, "p99Ms", { atMost: 0.5 }),
    against("zookeeper", hundred, "p99Ms"),
    ofBus("etcd-grpc", hundred, "p99Ms"),
    against("etcd-grpc", hundred, "rate"),
    against("zookeeper", hundred, "rate"),
  ],
};

/** The same with nothing but the bus: where this misses a target, whatever stands on the bus does. */
function ofBus(peer: ClientName, waiters: string, figure: "p50Ms" | "p99Ms"): Row {
  return row("raw-log", `${figure.slice(0, 3)} of the bus alone`, peer, waiters, figure);
}

function against(peer: ClientName, waiters: string, figure: Figure, target?: Target): Row {
  return row("tenure-grpc", figure === "rate" ? "rate" : figure.slice(0, 3), peer, waiters, figure, target);
}

function row(of: ClientName, name: string, peer: ClientName, waiters: string, figure: Figure, target?: Target): Row {
  const what =
    figure === "rate" ? "acquire + release a second, all contending" : `${figure.slice(0, 3)} of a hand-over`;
  const who = of === "tenure-grpc" ? "SDK over gRPC" : of;
  return ratioRow(
    {
      name: `${name} against ${peer}${waiters}`,
      measures: `${what}, ${who} against ${peer},${waiters.replace(/[()]/g, "")}`,
      figure,
      of: `${of}${waiters}`,
      to: `${peer}${waiters}`,
    },
    target,
  );
}
