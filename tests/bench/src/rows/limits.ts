import type { Benchmark } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { figureRow, sidesOf } from "./compare.ts";
import { limitSides } from "./limit-of.ts";

const alone = " (1 in flight)";
const many = 64;
const clients: readonly ClientName[] = ["raw-nats", "raw-jetstream", "raw-grpc", "raw-grpc-stream"];
/** As `guarded` and `durable-1` have in flight. */
const writes = [many, 256];

const what: Readonly<Record<string, string>> = {
  "raw-nats": "round trips over NATS, own correlation",
  "raw-jetstream": "single synced appends to JetStream with an expected sequence",
  "raw-grpc": "unary calls through grpc-js",
  "raw-grpc-stream": "round trips on one stream through grpc-js",
};
const logged = "synced changes by a process that does nothing but append what arrives together";

/** What the machine, the bus and gRPC can do at most, so that every other figure can be read as a share of it. */
export const limits: Benchmark = {
  name: "limits",
  summary: "what is physically there: round trips and appends without anything of Tenure in them",
  settings: () => [
    "100 bytes each; client and echo are two processes of Node.js on one machine",
    `${many} in flight, and 1; appends: each in flight on a subject of its own, sync_interval: always`,
    "raw-log: the changes of a turn in one message, one append in flight, what arrives meanwhile in the next; a pair is two changes",
  ],
  sides: [
    ...sidesOf(clients, { kind: "pairs", inFlight: many }),
    ...sidesOf(clients, { kind: "pairs", inFlight: 1 }, alone),
    ...sidesOf(["raw-log"], { kind: "pairs", inFlight: many }, " (pairs)"),
    ...[...writes, 1].flatMap((inFlight) =>
      sidesOf(["raw-log"], { kind: "writes", inFlight, isGuarded: false }, ` (${inFlight} in flight)`),
    ),
  ],
  rows: [
    ...clients.flatMap((client) => [
      figureRow(client, "rate", "/s", `${what[client]}, ${many} in flight`),
      figureRow(`${client}${alone}`, "p50Ms", "ms", `${what[client]}, one after the other`),
    ]),
    figureRow(`raw-jetstream${alone}`, "p99Ms", "ms", `${what["raw-jetstream"]}, one after the other`),
    figureRow(limitSides.pairs, "rate", "/s", `${logged}, two after each other, ${many} in flight`),
    ...writes.map((inFlight) =>
      figureRow(limitSides.writes(inFlight), "rate", "/s", `${logged}, ${inFlight} in flight`),
    ),
    ...["p50Ms", "p99Ms"].map((figure) =>
      figureRow(limitSides.writes(1), figure, "ms", `${logged}, one after the other`),
    ),
  ],
};
