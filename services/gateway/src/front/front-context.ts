import { type Clock, Fault } from "@tenure/kernel";
import { type Admission, limitExceeded, type ServiceCalls } from "@tenure/session";
import type { ConnectionLimits } from "./connection-limits.ts";
import type { Identify } from "./principal.ts";

/** More than any message that the handlers take: they refuse what is too large with a typed fault. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** What every gRPC handler needs. */
export interface FrontContext {
  readonly calls: ServiceCalls;
  readonly clock: Clock;
  readonly connections: ConnectionLimits;
  /** The one place that says who a caller is. */
  readonly identify: Identify;
  /** Which messages of clients' streams are taken, as which calls are made; absent: all. */
  readonly admission?: Pick<Admission, "admit"> | undefined;
  /** The largest request of a plain call. */
  readonly maxRequestBytes: number;
  /** The largest message of a session. */
  readonly maxSessionMessageBytes: number;
  /** Aborted when the gateway begins to stop: streams end then, so that their clients go elsewhere. */
  readonly stop: AbortSignal;
  /** Told of a mistake of the gateway's own. */
  onMistake(thrown: unknown): void;
}

/** Refuses a message that is larger than the limit of this name. */
export function assertSize(bytes: Uint8Array, name: string, limit: number): void {
  if (bytes.length <= limit) return;
  throw limitExceeded(name, limit, `the message has ${bytes.length} bytes, over the limit of ${limit}`);
}

/** What a caller is told of what was thrown: a Fault as it is, anything else is reported and told as INTERNAL. */
export function faultFor(thrown: unknown, { onMistake }: Pick<FrontContext, "onMistake">): Fault {
  if (thrown instanceof Fault) return thrown;
  onMistake(thrown);
  return new Fault({
    code: "INTERNAL",
    reason: "INTERNAL",
    message: "the gateway failed; its log says why",
    details: { applied: "UNKNOWN" },
    cause: thrown,
  });
}

/** The fault of a stream whose gateway stops. */
export function stopping(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "SERVER_STOPPING",
    message: "this gateway is stopping: open the stream again, at another",
    details: { applied: "NO" },
  });
}
