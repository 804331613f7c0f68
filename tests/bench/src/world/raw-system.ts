import { fileURLToPath } from "node:url";
import type { Bus } from "@tenure/bus";
import { systemClock } from "@tenure/kernel";
import { createStreams, logStream } from "@tenure/log";
import { connectTest, startNats, startScript } from "@tenure/testkit";
import type { System } from "./system.ts";

const script = fileURLToPath(new URL("../worker/echo.js", import.meta.url));
/** As many as there are appends in flight, so that each has a subject of its own. */
const partitions = 64;

/** A log as Tenure's, but without its limit: nobody makes room in it, and a fast machine fills it within a run. */
async function createLog(bus: Bus): Promise<void> {
  const replicas = 1;
  const { firstSequence, id: incarnationId } = await createStreams(bus, { replicas, partitions, clock: systemClock });
  const settings = { ...logStream({ replicas, incarnationId, firstSequence }), max_bytes: -1 };
  const answer = await bus.nats.request(`$JS.API.STREAM.UPDATE.${settings.name}`, JSON.stringify(settings));
  const { error } = answer.json<{ readonly error?: { readonly description: string } }>();
  if (error !== undefined) throw new Error(`the log cannot be made larger: ${error.description}`);
}

/** What is physically there: a NATS server that syncs every write, and a process that sends back what it gets. */
export async function startRaw(): Promise<System> {
  const nats = await startNats();
  const bus = await connectTest(nats);
  await createLog(bus);
  const echo = startScript(script, { name: "echo", args: [nats.url] });
  const line = await echo.waitForLine(/^listening on /);
  const grpc = `127.0.0.1:${line.split(" ").at(-1)}`;
  return {
    description: `limits: nats-server ${nats.version}, every write synced; a process that echoes on grpc-js and on NATS and appends`,
    endpoints: {
      "raw-nats": nats.url,
      "raw-jetstream": nats.url,
      "raw-log": nats.url,
      "raw-grpc": grpc,
      "raw-grpc-stream": grpc,
    },
    processes: [
      { name: "nats-server", pid: nats.pid },
      { name: "echo", pid: echo.pid },
    ],
    async [Symbol.asyncDispose]() {
      await bus.drain();
      await echo[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    },
  };
}
