import { Client, credentials } from "@grpc/grpc-js";
import { LeaseServiceDefinition, LeaseServiceWatchRequest, WatchMarkKind } from "@tenure/contracts";
import { connect } from "@tenure/sdk";
import { monotonicMs } from "./monotonic.ts";
import { report } from "./reports.ts";

/** What a process of watchers is asked to do. */
export interface WatchersTask {
  readonly endpoint: string;
  readonly namespace: string;
  readonly name: string;
  /** `observe`: of SDK clients, over their sessions. `plain`: streams as any gRPC client opens them. */
  readonly way: "observe" | "plain";
  readonly connections: number;
  readonly watchesPerConnection: number;
}

/** When each watch of a process was told of a token, on the machine's monotonic clock. */
export interface WatchersResult {
  readonly token: string;
  readonly seenAtMs: readonly number[];
}

const task = JSON.parse(process.argv[2] ?? "{}") as WatchersTask;
const all = task.connections * task.watchesPerConnection;
const seen = new Map<bigint, number[]>();
let synced = 0;

function noteSynced(): void {
  synced += 1;
  if (synced === all) report({ kind: "ready" });
}

/** Tells the test when the last watch has been told of a token. */
function noteLeader(token: bigint): void {
  const seenAtMs = seen.get(token) ?? [];
  seen.set(token, seenAtMs);
  seenAtMs.push(Math.round(monotonicMs() * 10) / 10);
  if (seenAtMs.length === all) report({ kind: "result", result: { token: String(token), seenAtMs } });
}

async function observe(): Promise<void> {
  const tenure = await connect({ endpoint: task.endpoint, renewal: "inline", connectTimeout: "60s" });
  for (let watch = 0; watch < task.watchesPerConnection; watch += 1) {
    void (async () => {
      let isFirst = true;
      for await (const observation of tenure.observe({ namespace: task.namespace, name: task.name })) {
        if (isFirst) noteSynced();
        isFirst = false;
        if (observation.kind === "leader") noteLeader(observation.token);
      }
    })();
  }
}

const { responseType } = LeaseServiceDefinition.methods.watch;

function watchPlainly(): void {
  const { name, namespace } = task;
  const client = new Client(task.endpoint, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const request = LeaseServiceWatchRequest.fromPartial({ selectors: [{ namespace, name }] });
  const bytes = Buffer.from(LeaseServiceWatchRequest.encode(request).finish());
  const pass = (raw: Buffer): Buffer => raw;
  for (let watch = 0; watch < task.watchesPerConnection; watch += 1) {
    const stream = client.makeServerStreamRequest("/tenure.v1.LeaseService/Watch", pass, pass, bytes);
    stream.on("error", (error) => process.stderr.write(`a watch ended: ${error.message}\n`));
    stream.on("data", (raw: Buffer) => {
      const { events, position } = responseType.decode(raw);
      for (const { lease } of events) {
        const token = lease?.holds[0]?.token;
        if (token !== undefined) noteLeader(token);
      }
      if (position?.mark?.kind === WatchMarkKind.SYNCED) noteSynced();
    });
  }
}

for (let number = 0; number < task.connections; number += 1) {
  if (task.way === "observe") await observe();
  else watchPlainly();
}
