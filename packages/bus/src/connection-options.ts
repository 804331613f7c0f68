import {
  type ConnectionOptions,
  nkeyAuthenticator,
  nkeys,
  type TlsOptions,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import { Fault, invalid, redactLogins } from "@tenure/kernel";
import type { BusOptions } from "./bus.ts";

/** One server of {@link BusOptions.servers}, taken apart. */
interface ServerUrl {
  readonly hostAndPort: string;
  readonly requiresTls: boolean;
  readonly user?: string;
  readonly password?: string;
}

/** The longest single dial; the bus itself bounds the first connect as a whole. */
const dialTimeoutMs = 3_000;

/** A reconnect waits between these, so that a fleet does not return in step. */
const reconnectWaitMs = 200;

/**
 * The client's options. Its defaults give up after ten reconnects and notice a silent cut after minutes; these
 * reconnect for ever and notice within three seconds.
 */
export function natsOptions(options: BusOptions, dialMs: number): ConnectionOptions {
  const urls = options.servers.map(parseServerUrl);
  if (urls.length === 0)
    throw invalid([{ field: "servers", rule: "must name at least one NATS server", value: "none" }]);
  const login = urls.find((url) => url.user !== undefined);
  return {
    servers: urls.map((url) => url.hostAndPort),
    name: options.name,
    inboxPrefix: options.inboxPrefix,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => reconnectWaitMs + options.random.next() * reconnectWaitMs,
    pingInterval: 1_000,
    maxPingOut: 2,
    timeout: Math.min(dialTimeoutMs, Math.max(1, dialMs)),
    // A user that is being replaced on the server must not end a running service for good.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    authenticator: [
      ...(login?.user === undefined ? [] : [usernamePasswordAuthenticator(login.user, login.password)]),
      ...(options.nkeySeed === undefined ? [] : [nkeyAuthenticator(checkedSeed(options.nkeySeed))]),
    ],
    ...tlsOptions(options, urls),
  };
}

function tlsOptions(options: BusOptions, urls: readonly ServerUrl[]): { tls?: TlsOptions } {
  if (options.tls === undefined) return urls.some((url) => url.requiresTls) ? { tls: {} } : {};
  const { ca, cert, key } = options.tls;
  return {
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  };
}

/** The client ignores credentials in URLs, and misreads a password with digits as a port: they are taken out here. */
export function parseServerUrl(text: string): ServerUrl {
  const match = /^(?:(nats|tls):\/\/)?(?:([^@/]*)@)?([^@/?#\s]+)\/?$/.exec(text);
  const hostAndPort = match?.[3];
  const login = decoded(match?.[2] ?? "");
  if (hostAndPort === undefined || login === undefined || !URL.canParse(`http://${hostAndPort}`)) {
    const rule = "must be a URL such as nats://127.0.0.1:4222 or tls://nats.example:4222";
    throw invalid([{ field: "servers", rule, value: JSON.stringify(redactLogins(text)) }]);
  }
  return {
    hostAndPort,
    requiresTls: match?.[1] === "tls",
    ...login,
  };
}

/** User and password of a URL's login, with their escapes undone; undefined if an escape is malformed. */
function decoded(login: string): Pick<ServerUrl, "user" | "password"> | undefined {
  const [user, ...rest] = login.split(":");
  try {
    return {
      ...(user === undefined || user === "" ? {} : { user: decodeURIComponent(user) }),
      ...(rest.length === 0 ? {} : { password: decodeURIComponent(rest.join(":")) }),
    };
  } catch {
    return undefined;
  }
}

/** A seed file often ends with a line break. */
function checkedSeed(seed: Uint8Array): Uint8Array {
  const trimmed = new TextEncoder().encode(new TextDecoder().decode(seed).trim());
  try {
    nkeys.fromSeed(trimmed);
    return trimmed;
  } catch (cause) {
    throw new Fault({
      code: "INVALID_ARGUMENT",
      reason: "NATS_SEED_MALFORMED",
      message: "the NKEY seed is not a user seed (one line that starts with SU): check the .nk file",
      cause,
    });
  }
}
