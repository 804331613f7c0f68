import type { ErrorReason } from "@tenure/contracts";
import { type Applied, Fault, type FaultCode, type FaultDetails, type FieldViolation } from "@tenure/kernel";

/** One of gRPC's code names: the class of a failure. */
export type ErrorCode = FaultCode;

/** A reason that servers give. */
export type ServerReason = Exclude<keyof typeof ErrorReason, "UNSPECIFIED">;

/** A reason that only the SDK gives. */
export type ClientReason =
  /** UNAVAILABLE: no endpoint answered; the cause says why the last one did not. */
  | "UNREACHABLE"
  /** UNAVAILABLE: the session broke while the call was under way; `applied` says whether it had been sent. */
  | "SESSION_BROKEN"
  /** CANCELLED: the session, or the client that it belongs to, was closed. */
  | "SESSION_CLOSED"
  /** INVALID_ARGUMENT: options that cannot work together, or a value of the wrong kind. */
  | "OPTION_INVALID"
  /** UNAVAILABLE: the thread that renews is starting again. */
  | "RENEWAL_THREAD_LOST"
  /** UNAVAILABLE: the main thread has shown no life for so long that its terms are no longer renewed. */
  | "MAIN_THREAD_SILENT"
  /** FAILED_PRECONDITION: the term's deadline has passed on this process's own clock. */
  | "TERM_OVER"
  /** INVALID_ARGUMENT: a migration configuration is given although migration is not enabled. */
  | "MIGRATION_NOT_ENABLED"
  /** INVALID_ARGUMENT: the file of a migration configuration cannot be read; the cause says why. */
  | "MIGRATION_FILE_UNREADABLE";

/** Why something failed, as a word for programs. The set may grow: a server may be newer than the SDK. */
export type ErrorWord = ServerReason | ClientReason | (string & {});

/** What a program may need of an error beyond its words. Every entry is optional; absent means unknown. */
export interface ErrorDetails extends Omit<FaultDetails, "applied"> {
  /** The first broken rule's field, as the API spells it. */
  readonly field?: string;
  /** The first broken rule. */
  readonly rule?: string;
  /** What was sent in that field, shortened for display. */
  readonly value?: string;
}

/** What a {@link TenureError} is made of. */
export interface ErrorInput {
  readonly code: ErrorCode;
  readonly reason: ErrorWord;
  /** Lower-case text for people: the thing, the rule, the numbers. */
  readonly message: string;
  readonly retryable?: boolean | undefined;
  readonly applied?: Applied | undefined;
  readonly details?: Omit<FaultDetails, "applied"> | undefined;
  readonly cause?: unknown;
}

/** The SDK's one error. Everything that it throws, rejects with or gives as a reason of a signal is one of these. */
export class TenureError extends Error {
  override readonly name = "TenureError";
  /** The class of the failure. */
  readonly code: ErrorCode;
  /** Why, as a word for programs. */
  readonly reason: ErrorWord;
  /** Whether the same request may succeed later without being changed. */
  readonly retryable: boolean;
  /** Whether a change may have happened: `NO`, `UNKNOWN`, or undefined for what is no change. */
  readonly applied: Applied | undefined;
  /** What programs need beyond that. */
  readonly details: ErrorDetails;

  constructor(input: ErrorInput) {
    super(input.message, input.cause === undefined ? undefined : { cause: input.cause });
    this.code = input.code;
    this.reason = input.reason;
    this.retryable = input.retryable ?? (input.code === "UNAVAILABLE" || input.details?.retryAfterMs !== undefined);
    this.applied = input.applied;
    this.details = detailsOf(input.details ?? {});
  }
}

/** Whether a thrown value is the SDK's error, also one of another copy of the SDK in the same process. */
export function isTenureError(thrown: unknown): thrown is TenureError {
  return thrown instanceof Error && thrown.name === "TenureError" && "reason" in thrown && "retryable" in thrown;
}

/** A failure of the service as the SDK's error. */
export function errorFromFault(fault: Fault): TenureError {
  const { applied, ...details } = fault.details;
  const { code, reason, message, retryable, cause } = fault;
  return new TenureError({ code, reason, message, retryable, applied, details, cause });
}

/** Any thrown value as the SDK's error; one that is nobody's is INTERNAL with its cause kept. */
export function toTenureError(thrown: unknown): TenureError {
  if (isTenureError(thrown)) return thrown;
  if (thrown instanceof Fault) return errorFromFault(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new TenureError({ code: "INTERNAL", reason: "INTERNAL", message, cause: thrown });
}

const hopelessCodes: ReadonlySet<string> = new Set(["INVALID_ARGUMENT", "PERMISSION_DENIED", "UNAUTHENTICATED"]);
const hopelessReasons: ReadonlySet<string> = new Set(["METHOD_UNKNOWN", "SESSION_CLOSED"]);

/**
 * Whether nothing but a change of the request or of rights mends it: another try is in vain. What nobody serves is not:
 * the service may be about to start.
 */
export function isHopeless({ code, reason }: TenureError): boolean {
  return hopelessCodes.has(code) || hopelessReasons.has(reason);
}

/**
 * The error of a call whose signal was aborted; the signal's own reason is its cause. Of a change it says whether it may
 * have happened, which the reason cannot know.
 */
export function abortedError(signal: AbortSignal, what: string, applied?: Applied): TenureError {
  const { reason: why } = signal;
  if (isTenureError(why)) {
    if (applied === undefined) return why;
    const { code, details, message, reason } = why;
    return new TenureError({ code, reason, message, details, applied, cause: why });
  }
  const message = `${what} was given up by its caller`;
  return new TenureError({ code: "CANCELLED", reason: "CANCELLED", message, applied, cause: signal.reason });
}

function detailsOf(details: Omit<FaultDetails, "applied">): ErrorDetails {
  const first: FieldViolation | undefined = details.violations?.[0];
  return first === undefined ? details : { ...details, field: first.field, rule: first.rule, value: first.value };
}
