import { clientKey } from "@tenure/core";

/** A client as the wire names it. */
export interface WireClient {
  readonly clientId: string;
  readonly principal: string;
}

/** The two parts of core's one text for a client and its principal; a client id has no line break. */
export function clientToWire(client: string): WireClient {
  const at = client.lastIndexOf("\n");
  if (at < 0) throw new Error(`client ${JSON.stringify(client)} names no principal`);
  return { clientId: client.slice(at + 1), principal: client.slice(0, at) };
}

/** Core's one text for a client and its principal. */
export function clientFromWire({ clientId, principal }: WireClient): string {
  return clientKey(principal, clientId);
}
