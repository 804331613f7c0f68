import type { Benchmark } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { figureRow, sidesOf } from "./compare.ts";

const alone = " (1 in flight)";
const many = 64;
const clients: readonly ClientName[] = ["raw-nats", "raw-jetstream", "raw-grpc", "raw-grpc-stream"];

const what: Readonly<Record<string, string>> = {
  "raw-nats": "round trips over NATS, own correlation",
  "raw-jetstream": "single synced appends to JetStream with an expected sequence",
  "raw-grpc": "unary calls through grpc-js",
  "raw-grpc-stream": "round trips on one stream through grpc-js",
};

/** What the machine, the bus and gRPC can do at most, so that every other figure can be read as a share of it. */
export const limits: Benchmark = {
  name: "limits",
  summary: "what is physically there: round trips and appends without anything of Tenure in them",
  settings: () => [
    "100 bytes each; client and echo are two processes of Node.js on one machine",
    `${many} in flight, and 1; appends: each in flight on a subject of its own, sync_interval: always`,
  ],
  sides: [
    ...sidesOf(clients, { kind: "pairs", inFlight: many }),
    ...sidesOf(clients, { kind: "pairs", inFlight: 1 }, alone),
  ],
  rows: clients.flatMap((client) => [
    figureRow(client, "rate", "/s", `${what[client]}, ${many} in flight`),
    figureRow(`${client}${alone}`, "p50Ms", "ms", `${what[client]}, one after the other`),
  ]),
};
