import { readFileSync } from "node:fs";
import { type Identity, IdentityServiceListRequest } from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import type { Deployment } from "@tenure/testkit";
import { startIdentityDeployment } from "../deployment.ts";
import { register } from "../fleet.ts";
import { HeartbeatStream } from "../heartbeat-stream.ts";

// What 10,000 identities cost: node dist/measure/main.js [identities] [streams] [seconds]
const [identities = 10_000, streams = 100, seconds = 60] = process.argv.slice(2).map(Number);
const beatMs = 10_000;
const call = { principal: "anonymous", deadlineMs: 30_000 };

await using deployment = await startIdentityDeployment({ identity: 1, gateway: 1 }, []);
const idle = await processorShare(deployment, seconds / 2);
const fleet = await registerAll(deployment);
using beating = startBeating(deployment, fleet);
await systemClock.sleep(beatMs + 2_000);
const before = beating.committed();
const busy = await processorShare(deployment, seconds);
const committed = beating.committed() - before;
const lists = await timeLists(deployment, 20);
report({ identities: fleet.length, streams, committedPerSecond: committed / seconds, refused: beating.refused() });
report({ idle, busy });
report(lists);

/** Registers in order, some at a time. */
async function registerAll(deployed: Deployment): Promise<readonly Identity[]> {
  const made: Identity[] = [];
  const beganAtMs = systemClock.now();
  while (made.length < identities) {
    const some = Array.from({ length: Math.min(200, identities - made.length) }, (_, place) =>
      register(anonymous(deployed), { component: "measured", host: `host-${made.length + place}`, zone: "a" }),
    );
    made.push(...(await Promise.all(some)));
  }
  report({ registeredPerSecond: (identities * 1_000) / (systemClock.now() - beganAtMs) });
  return made;
}

/** Beats come through the gateway as a client without credentials: that is whom the identities must belong to. */
function anonymous({ identities: client }: Deployment): Pick<Deployment, "identities"> {
  return { identities: { ...client, register: (request) => client.register(request, call) } };
}

/** Streams of beats, each for its share of the fleet and at its own moment of the interval. */
function startBeating({ grpc }: Deployment, all: readonly Identity[]) {
  const share = Math.ceil(all.length / streams);
  const open = Array.from({ length: streams }, (_, number) => {
    const own = all.slice(number * share, (number + 1) * share);
    const stream = new HeartbeatStream(grpc.call(deployment, "gateway-1"));
    let sendNumber = 0n;
    const beat = () => {
      sendNumber += 1n;
      stream.send({ beats: own.map(({ id, token }) => ({ id, token, sendNumber })) });
      timer = systemClock.schedule(beatMs, beat);
    };
    let timer = systemClock.schedule((beatMs * number) / streams, beat);
    return { stream, stop: () => timer.cancel() };
  });
  const results = () => open.flatMap(({ stream }) => stream.results);
  return {
    committed: () => results().filter(({ failure }) => failure === undefined).length,
    refused: () => countsOf(results().flatMap(({ failure }) => (failure === undefined ? [] : [failure.message]))),
    [Symbol.dispose]() {
      for (const { stop, stream } of open) {
        stop();
        stream[Symbol.dispose]();
      }
    },
  };
}

/** How often each text occurs. */
function countsOf(texts: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Percent of one core that each process uses. */
async function processorShare(deployed: Deployment, forSeconds: number): Promise<Record<string, number>> {
  const pids = new Map([
    ["nats", deployed.nats.pid],
    ...[...deployed.processes].map(([name, { pid }]) => [name, pid] as const),
  ]);
  const before = new Map([...pids].map(([name, pid]) => [name, processorMs(pid)]));
  const beganAtMs = systemClock.now();
  await systemClock.sleep(forSeconds * 1_000);
  const tookMs = systemClock.now() - beganAtMs;
  const shares = [...pids].map(
    ([name, pid]) => [name, ((processorMs(pid) - (before.get(name) ?? 0)) / tookMs) * 100] as const,
  );
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  return Object.fromEntries([...shares, ["total", total] as const].map(([name, share]) => [name, round(share)]));
}

/** Processor time of a process so far, in ms; the kernel counts in hundredths of a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function timeLists({ identities: client }: Deployment, rounds: number): Promise<Record<string, number>> {
  const tookMs: number[] = [];
  const service = deployment.process("identity-1").pid;
  const servedFromMs = processorMs(service);
  const readFromMicros = process.cpuUsage();
  let count = 0;
  for (let round = 0; round < rounds; round += 1) {
    const beganAtMs = systemClock.now();
    let token = "";
    count = 0;
    do {
      const request = IdentityServiceListRequest.fromPartial({ page: { size: 5_000, token } });
      const { identities: page, page: next } = await client.list(request, call);
      count += page.length;
      token = next?.nextToken ?? "";
    } while (token !== "");
    tookMs.push(systemClock.now() - beganAtMs);
  }
  tookMs.sort((left, right) => left - right);
  const at = (share: number) => round(tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? 0);
  const { system, user } = process.cpuUsage(readFromMicros);
  const cost = {
    serviceProcessorMs: round((processorMs(service) - servedFromMs) / rounds),
    clientProcessorMs: round((system + user) / 1_000 / rounds),
  };
  return { ...cost, listed: count, listP50Ms: at(0.5), listP95Ms: at(0.95), listWorstMs: at(1) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function report(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
