import type { Renewer } from "../peer-client.ts";
import { KeepAliveStream, keepingAlive } from "./keep-alive.ts";
import type { OpenLink } from "./link.ts";
import { decodeLeaseId, encodeGrant, methods } from "./messages.ts";

const ttlSeconds = 3_600;
/** Connections that are opened at a time. */
const opensInFlight = 50;

/** Connections with one lease each, every one of which is renewed as soon as it was acknowledged. */
export async function etcdConnections(endpoint: string, count: number, open: OpenLink): Promise<Renewer> {
  const streams: KeepAliveStream[] = [];
  while (streams.length < count) {
    const opened = Array.from({ length: Math.min(opensInFlight, count - streams.length) }, async () => {
      const link = await open(endpoint);
      const lease = decodeLeaseId(await link.unary(methods.leaseGrant, encodeGrant(ttlSeconds)));
      return new KeepAliveStream(link, [lease]);
    });
    streams.push(...(await Promise.all(opened)));
  }
  return keepingAlive(streams, 1);
}
