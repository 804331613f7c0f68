import type { ServerFacts } from "./facts.ts";

/** One server's answer to `$SYS.REQ.SERVER.PING.VARZ`, as far as it is judged. */
export interface ServerReply {
  readonly facts: ServerFacts;
  /** Servers that this one has routes to. */
  readonly remotes: number;
  /** The JetStream peers that it knows besides itself; empty on a single server. */
  readonly peers: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const nanosPerMs = 1_000_000;

/** Reads an answer; undefined when it is not one, because a server that cannot be understood counts as silent. */
export function parseServerReply(bytes: Uint8Array, wallMs: number): ServerReply | undefined {
  const reply = object(parse(bytes));
  const server = object(reply?.server);
  const data = object(reply?.data);
  if (server === undefined || data === undefined) return undefined;
  const name = text(server.name) ?? text(data.server_name) ?? text(server.id);
  if (name === undefined) return undefined;
  const jetStream = object(data.jetstream);
  const version = text(data.version) ?? text(server.ver) ?? "";
  const clockAheadMs = Date.parse(text(data.now) ?? "") - wallMs;
  return {
    facts: { name, version, ...jetStreamFacts(jetStream), ...(Number.isNaN(clockAheadMs) ? {} : { clockAheadMs }) },
    remotes: number(data.remotes) ?? 0,
    peers: peersOf(object(jetStream?.meta)),
  };
}

/** A server without JetStream answers with an empty block. */
function jetStreamFacts(jetStream: Json | undefined): Pick<ServerFacts, "jetStream"> {
  const config = object(jetStream?.config);
  if (config === undefined) return {};
  const intervalNanos = number(config.sync_interval);
  return {
    jetStream: {
      storeDirectory: text(config.store_dir) ?? "",
      syncAlways: config.sync_always === true,
      ...(intervalNanos === undefined ? {} : { syncIntervalMs: intervalNanos / nanosPerMs }),
    },
  };
}

function peersOf(meta: Json | undefined): ServerReply["peers"] {
  const replicas = meta?.replicas;
  if (!Array.isArray(replicas)) return [];
  return replicas.flatMap((replica) => {
    const name = text(object(replica)?.name);
    return name === undefined ? [] : [name];
  });
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function object(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
