import type { Benchmark, Row, Target } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const clients: readonly ClientName[] = ["tenure-grpc", "tenure-nats", "etcd-grpc", "zookeeper", "raw-log"];
/** Between the moment when a holder knows and its release, where one waits: time enough to stand in line. */
const restMs = 10;

type Figure = "p50Ms" | "p99Ms" | "rate";

const summary = "from the send of a release to the moment when the next in line knows that it holds the lease";
const settings = [
  "holder and waiters are in one client process on one connection; every change is synced before it is answered",
  "etcd: its own lock recipe, run by its server (v3lockpb); ZooKeeper: its lock recipe, a watch on the node before one's own",
  "raw-log: the bus with nothing of Tenure: a release is one synced append by another process, and once it is answered the next knows",
];

/** How soon the next in line knows, where one waits. */
export const handOverToOne: Benchmark = {
  name: "hand-over-1",
  summary: `${summary}, 1 waiter`,
  settings: () => [...settings, `${restMs} ms of rest before each release`],
  sides: sidesOf(clients, { kind: "hand-overs", waiters: 1, restMs }),
  rows: [
    against("etcd-grpc", "p50Ms", { atMost: 0.5 }),
    against("zookeeper", "p50Ms", { atMost: 0.5 }),
    ofBus("zookeeper", "p50Ms"),
  ],
};

/** The same, where many wait and all contend. */
export const handOverAmongMany: Benchmark = {
  name: "hand-over-100",
  summary: `${summary}, 100 waiters`,
  settings: () => [...settings, "the next release at once, and the old holder stands in line again"],
  sides: sidesOf(clients, { kind: "hand-overs", waiters: 100, restMs: 0 }),
  rows: [
    against("etcd-grpc", "p99Ms", { atMost: 0.5 }),
    against("zookeeper", "p99Ms"),
    ofBus("etcd-grpc", "p99Ms"),
    against("etcd-grpc", "rate"),
    against("zookeeper", "rate"),
  ],
};

/** The same with nothing but the bus: where this misses a target, whatever stands on the bus does. */
function ofBus(peer: ClientName, figure: "p50Ms" | "p99Ms"): Row {
  return row("raw-log", `${figure.slice(0, 3)} of the bus alone`, peer, figure);
}

function against(peer: ClientName, figure: Figure, target?: Target): Row {
  return row("tenure-grpc", figure === "rate" ? "rate" : figure.slice(0, 3), peer, figure, target);
}

function row(of: ClientName, name: string, peer: ClientName, figure: Figure, target?: Target): Row {
  const what =
    figure === "rate" ? "acquire + release a second, all contending" : `${figure.slice(0, 3)} of a hand-over`;
  const who = of === "tenure-grpc" ? "SDK over gRPC" : of;
  return ratioRow(
    { name: `${name} against ${peer}`, measures: `${what}, ${who} against ${peer}`, figure, of, to: peer },
    target,
  );
}
