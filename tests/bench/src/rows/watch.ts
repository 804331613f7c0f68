import type { Benchmark } from "../benchmark.ts";
import { ratioRow, sidesOf } from "./compare.ts";

const sizes = [1, 100, 1_000];

/** How soon watchers see a change. */
export const watch: Benchmark = {
  name: "watch",
  summary: "from the send of a change to the moment when each watcher has seen it",
  settings: () => [
    "writer and watchers are in one client process on one connection; the change is synced before it is answered; 10 ms of rest before each",
    "Tenure: observe of the SDK, which tells a new leader; the change is an acquire. etcd: watches on one stream, as its own clients make them; the change is a put",
  ],
  sides: sizes.flatMap((watchers) =>
    sidesOf(["tenure-grpc", "etcd-grpc"], { kind: "watches", watchers }, ` (${watchers})`),
  ),
  rows: sizes.flatMap((watchers) =>
    ["p50", "p99"].map((share) =>
      ratioRow(
        {
          name: `${share}, ${watchers} watching`,
          measures: `${share} over all watchers and changes, SDK over gRPC against etcd through grpc-js`,
          figure: `${share}Ms`,
          of: `tenure-grpc (${watchers})`,
          to: `etcd-grpc (${watchers})`,
        },
        share === "p99" && watchers === 1_000 ? { atMost: 0.5 } : undefined,
      ),
    ),
  ),
};
