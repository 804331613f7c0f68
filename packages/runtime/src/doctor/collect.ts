import type { Bus } from "@tenure/bus";
import { type Clock, systemClock, toFault } from "@tenure/kernel";
import { inspectJetStream, type JetStreamFacts, type ProbeResult, probeCompareAndSet, requestMany } from "@tenure/log";
import type { DeploymentFacts, ServersReading } from "./facts.ts";
import { parseServerReply, type ServerReply } from "./server-reply.ts";

/** How the facts are gathered. */
export interface CollectOptions {
  /** Whether to race the compare-and-set probe, about a second. Default true. */
  readonly probe?: boolean;
  /** How long JetStream may be without a leader. Default 30 s: a cluster that starts needs about ten. */
  readonly leaderBoundMs?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** The longest that servers are waited for; one that is slower counts as silent. */
const serversWaitMs = 2000;

/** Rounds of asking, because a busy server may be slow once. */
const mostAsks = 3;

/** Gathers what `examine` judges: reads everything, and writes only what the probe writes to its own stream. */
export async function collectFacts(bus: Bus, systemBus?: Bus, options: CollectOptions = {}): Promise<DeploymentFacts> {
  const { clock = systemClock, signal, leaderBoundMs = 30_000 } = options;
  const waits = { clock, ...(signal === undefined ? {} : { signal }) };
  const jetStream = await inspectJetStream(bus, { ...waits, boundMs: leaderBoundMs });
  const servers = await readServers(systemBus, waits);
  const probe = options.probe === false ? undefined : await probeIfPossible(bus, jetStream, waits);
  return {
    connected: jetStream.server,
    servers,
    jetStream,
    ...(probe === undefined ? {} : { probe }),
  };
}

interface Waits {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

async function probeIfPossible(bus: Bus, jetStream: JetStreamFacts, waits: Waits): Promise<ProbeResult | undefined> {
  return jetStream.streams.probe === undefined ? undefined : await probeCompareAndSet(bus, waits);
}

/** Asks every server through the system account. What stands in the way becomes a fact, not a failure. */
async function readServers(systemBus: Bus | undefined, waits: Waits): Promise<ServersReading> {
  if (systemBus === undefined) return { kind: "unreadable", why: "no system-account user was given" };
  let reading: ServersReading = { kind: "unreadable", why: "no server answered the system account" };
  try {
    for (let ask = 0; ask < mostAsks; ask += 1) {
      reading = summarize(await askServers(systemBus, waits)) ?? reading;
      if (reading.kind === "read" && reading.silent.every((server) => server.isOffline)) break;
    }
    return reading;
  } catch (thrown) {
    waits.signal?.throwIfAborted();
    return { kind: "unreadable", why: toFault(thrown).message };
  }
}

async function askServers(systemBus: Bus, waits: Waits): Promise<readonly ServerReply[]> {
  const replies = await requestMany(systemBus, "$SYS.REQ.SERVER.PING.VARZ", new Uint8Array(), {
    ...waits,
    maxWaitMs: serversWaitMs,
    isComplete: (soFar) => soFar.length >= expectedReplies(parseAll(soFar, waits.clock)),
  });
  return parseAll(replies, waits.clock);
}

function parseAll(replies: readonly Uint8Array[], clock: Clock): readonly ServerReply[] {
  return replies.flatMap((bytes) => parseServerReply(bytes, clock.wall()) ?? []);
}

/** Every server knows how many it is connected to. */
function expectedReplies(replies: readonly ServerReply[]): number {
  return Math.max(1, ...replies.map((reply) => reply.remotes + 1));
}

/** What the answers say together; undefined when there are none. */
export function summarize(replies: readonly ServerReply[]): ServersReading | undefined {
  if (replies.length === 0) return undefined;
  const answered = new Set(replies.map((reply) => reply.facts.name));
  // A peer that died is called offline only after minutes, but its routes are gone at once: when all that the others
  // are connected to have answered, whoever has not is connected to nobody.
  const isOffline = replies.length >= expectedReplies(replies);
  const away = new Set(replies.flatMap((reply) => reply.peers).filter((name) => !answered.has(name)));
  const withJetStream = replies.filter((reply) => reply.facts.jetStream !== undefined).length;
  return {
    kind: "read",
    servers: replies.map((reply) => reply.facts).sort((a, b) => a.name.localeCompare(b.name)),
    silent: [...away].sort().map((name) => ({ name, isOffline })),
    clusterSize: withJetStream + away.size,
  };
}
