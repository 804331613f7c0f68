import { type Msg, type MsgHdrs, MsgHdrsImpl, MsgImpl } from "@nats-io/transport-node";
import { invalid } from "@tenure/kernel";
import { anonymous } from "./call-options.ts";
import { type TraceContext, traceContextOf } from "./trace-context.ts";

/** What a call says about itself in the headers of its request. Only what is present is sent. */
export interface CallMetadata {
  /** Milliseconds that are left; absent for a stream without a deadline. */
  readonly deadlineMs?: number;
  readonly principal: string;
  readonly trace?: TraceContext;
  /** Streams only: items that may be sent before the first grant. */
  readonly window?: number;
  /** Streams only: the heartbeat of both sides in milliseconds. */
  readonly beatMs?: number;
}

/** Headers with the number of bytes that they take on the wire, which counts towards the server's payload limit. */
export interface WireHeaders {
  readonly headers: MsgHdrs;
  readonly byteLength: number;
}

const deadlineKey = "Tenure-Deadline-Ms";
const principalKey = "Tenure-Principal";
const windowKey = "Tenure-Window";
const beatKey = "Tenure-Beat-Ms";
const failureKey = "Tenure-Failure";

/** Headers of calls without a trace repeat: most calls of a process share one deadline and principal. */
const cache = new Map<string, WireHeaders>();
const cacheLimit = 512;

/** The headers of a request. */
export function encodeCallHeaders(metadata: CallMetadata): WireHeaders {
  if (metadata.trace !== undefined) return buildCallHeaders(metadata);
  const { beatMs, deadlineMs, principal, window } = last.metadata;
  const isSame = metadata.deadlineMs === deadlineMs && metadata.principal === principal;
  if (isSame && metadata.window === window && metadata.beatMs === beatMs) return last.headers;
  const headers = cachedHeaders(metadata);
  last = { metadata, headers };
  return headers;
}

function cachedHeaders(metadata: CallMetadata): WireHeaders {
  const key = `${metadata.deadlineMs}|${metadata.window}|${metadata.beatMs}|${metadata.principal}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const built = buildCallHeaders(metadata);
  if (cache.size >= cacheLimit) cache.clear();
  cache.set(key, built);
  return built;
}

function buildCallHeaders({ deadlineMs, principal, trace, window, beatMs }: CallMetadata): WireHeaders {
  const record = new Map<string, string>();
  if (deadlineMs !== undefined) record.set(deadlineKey, String(Math.max(1, Math.ceil(deadlineMs))));
  if (window !== undefined) record.set(windowKey, String(window));
  if (beatMs !== undefined) record.set(beatKey, String(Math.ceil(beatMs)));
  if (principal !== anonymous) record.set(principalKey, checkedPrincipal(principal));
  const carried = trace === undefined ? undefined : traceContextOf(trace.traceparent, trace.tracestate);
  if (carried !== undefined) {
    record.set("traceparent", carried.traceparent);
    if (carried.tracestate !== undefined) record.set("tracestate", carried.tracestate);
  }
  return wireHeaders(record);
}

/** Those of the call before: the calls of a turn mostly have the same. */
let last = { metadata: { principal: anonymous } as CallMetadata, headers: buildCallHeaders({ principal: anonymous }) };

function wireHeaders(entries: Iterable<readonly [string, string]>): WireHeaders {
  const headers = new MsgHdrsImpl();
  for (const [key, value] of entries) headers.set(key, value);
  const encoded = headers.encode();
  // The client encodes headers anew for every message; these never change, so their bytes are kept.
  return { headers: Object.assign(headers, { encode: () => encoded }), byteLength: encoded.byteLength };
}

/** The principal that was last found to be in order: mostly the next one, too. */
let lastChecked = "";

/** A principal is one printable line: it must not be able to add a header. */
function checkedPrincipal(principal: string): string {
  if (principal === lastChecked && principal !== "") return principal;
  if (/^[^\p{Cc}\s]([^\p{Cc}]{0,254}[^\p{Cc}\s])?$/u.test(principal)) {
    lastChecked = principal;
    return principal;
  }
  throw invalid([
    {
      field: "principal",
      rule: "must be 1 to 256 printable characters without spaces at its ends",
      value: JSON.stringify(principal.slice(0, 80)),
    },
  ]);
}

/** What was read of requests whose headers repeat, by the bytes of those. */
const read = new Map<string, CallMetadata>();

/** What a request says of itself; see {@link decodeCallHeaders}. Headers that have been read before are not taken apart again. */
export function metadataOf(message: Msg | MsgImpl): CallMetadata {
  if (!(message instanceof MsgImpl) || message._msg.hdr < 0) return decodeCallHeaders(message.headers);
  const { _msg, _rdata } = message;
  const bytes = Buffer.from(_rdata.buffer, _rdata.byteOffset, _msg.hdr).toString("latin1");
  const known = read.get(bytes);
  if (known !== undefined) return known;
  const metadata = decodeCallHeaders(message.headers);
  if (metadata.trace !== undefined) return metadata;
  if (read.size >= cacheLimit) read.clear();
  read.set(bytes, metadata);
  return metadata;
}

/** What the headers of a request say. A number that is not one is refused; a trace that is not one is dropped. */
export function decodeCallHeaders(headers: MsgHdrs | undefined): CallMetadata {
  if (headers === undefined) return { principal: anonymous };
  const read: { -readonly [Key in keyof CallMetadata]: CallMetadata[Key] } = { principal: anonymous };
  let traceparent: string | undefined;
  let tracestate: string | undefined;
  for (const [key, [value = ""]] of headers) {
    if (key === deadlineKey) read.deadlineMs = positiveInteger(key, value);
    else if (key === principalKey) read.principal = checkedPrincipal(value);
    else if (key === windowKey) read.window = positiveInteger(key, value);
    else if (key === beatKey) read.beatMs = positiveInteger(key, value);
    else if (key === "traceparent") traceparent = value;
    else if (key === "tracestate") tracestate = value;
  }
  if (traceparent === undefined) return read;
  const trace = traceContextOf(traceparent, tracestate);
  return trace === undefined ? read : { ...read, trace };
}

function positiveInteger(field: string, text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw invalid([{ field, rule: "must be a whole number from 1", value: JSON.stringify(text.slice(0, 80)) }]);
}

/** The headers that mark a reply as a failure: its payload is an encoded Failure message. */
export const failureHeaders: WireHeaders = wireHeaders([[failureKey, "1"]]);

/** What a reply with headers is. One without is a response or a stream's frame. */
export function replyKind(headers: MsgHdrs): "failure" | "no-responder" | "reply" {
  if (headers.code === 503) return "no-responder";
  return headers.has(failureKey) ? "failure" : "reply";
}
