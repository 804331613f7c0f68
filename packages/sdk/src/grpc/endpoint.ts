import { TenureError } from "../errors.ts";

/** Where a gateway listens. */
export interface Endpoint {
  /** `host:port`, as the gRPC library wants it. */
  readonly target: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

const defaultPort = "8368";

/**
 * Reads `host:port`, `http://host:port` or `https://host:port`; the port is 8368 unless given. Without a scheme the
 * connection is secure exactly if TLS was asked for.
 */
export function parseEndpoint(text: string, hasTls: boolean): Endpoint {
  const url = URL.canParse(text.includes("://") ? text : `plain://${text}`)
    ? new URL(text.includes("://") ? text : `plain://${text}`)
    : undefined;
  const isKnown = url !== undefined && ["http:", "https:", "plain:"].includes(url.protocol) && url.hostname !== "";
  if (!isKnown || (url.pathname !== "" && url.pathname !== "/") || url.username !== "") throw invalidEndpoint(text);
  if (url.protocol === "http:" && hasTls) throw invalidEndpoint(text, "says http although TLS is configured");
  // The URL drops the port that is its scheme's default, so it is read from the text.
  const port = url.port || (/:(\d+)\/?$/.exec(text)?.[1] ?? defaultPort);
  return {
    target: `${url.hostname}:${port}`,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(port),
    isSecure: url.protocol === "https:" || (url.protocol === "plain:" && hasTls),
  };
}

function invalidEndpoint(text: string, why = "must be host:port, http://host:port or https://host:port"): TenureError {
  const violation = { field: "endpoint", rule: why, value: JSON.stringify(text) };
  return new TenureError({
    code: "INVALID_ARGUMENT",
    reason: "OPTION_INVALID",
    message: `endpoint ${JSON.stringify(text)} ${why}`,
    details: { violations: [violation] },
  });
}
