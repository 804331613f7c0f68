import { type ConnectOptions, connect, type Tenure } from "@tenure/sdk";
import { version } from "../version.ts";
import type { Settings } from "./settings.ts";

/** What a command asks of its connection beyond the settings. */
export type Connection = Pick<ConnectOptions, "identity" | "signal">;

/** A call that a person waits for: long enough for a failover of the store. */
const defaultTimeoutMs = 10_000;

/**
 * Connects as the settings say. Terms are renewed in this thread, which does nothing else: what a program does under a
 * lease, it does in processes of its own.
 */
export function openConnection(settings: Settings, connection: Connection = {}): Promise<Tenure> {
  const { authorization, endpoints, namespace, timeoutMs = defaultTimeoutMs, tls } = settings;
  return connect({
    endpoints,
    namespace,
    tls,
    renewal: "inline",
    userAgent: `tenure-cli/${version}`,
    connectTimeout: timeoutMs,
    callTimeout: timeoutMs,
    ...(authorization === undefined ? {} : { metadata: { authorization } }),
    ...connection,
  });
}
