import { Fault } from "@tenure/kernel";

/** How many causes of causes a line shows: a cycle must not make it endless. */
const deepestCause = 4;

/** An error as a log line carries it. */
export interface SerializedError {
  readonly type: string;
  readonly message: string;
  /** gRPC's code name and our reason, for faults only. */
  readonly code?: string;
  readonly reason?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly stack?: string;
  readonly cause?: SerializedError;
}

/**
 * Turns whatever was thrown into fields: a fault with its code, reason and details. A fault that was foreseen needs no
 * stack, so stacks are kept for other errors, and for everything when `stacks` asks for it.
 */
export function serializeError(thrown: unknown, stacks = false, depth = 0): SerializedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) };
  const isFault = thrown instanceof Fault;
  const showsStack = thrown.stack !== undefined && (stacks || !isFault);
  const showsCause = thrown.cause !== undefined && depth < deepestCause;
  return {
    type: thrown.name,
    message: thrown.message,
    ...(isFault ? { code: thrown.code, reason: thrown.reason } : {}),
    ...(isFault && Object.keys(thrown.details).length > 0 ? { details: plain(thrown.details) } : {}),
    ...(showsStack ? { stack: thrown.stack } : {}),
    ...(showsCause ? { cause: serializeError(thrown.cause, stacks, depth + 1) } : {}),
  };
}

/** JSON knows no 64-bit numbers: they become text, which loses nothing. */
function plain(details: object): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(details, (_, value) => (typeof value === "bigint" ? String(value) : value)));
}
