/** The closed set of failure codes: gRPC's names, so that a fault crosses gRPC unchanged. */
export const faultCodes = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** One of gRPC's code names. */
export type FaultCode = keyof typeof faultCodes;

/** Whether a refused change may have happened: `NO` is free to retry, `UNKNOWN` only with the same attempt number. */
export type Applied = "NO" | "UNKNOWN";

/** One broken rule of one input field. */
export interface FieldViolation {
  /** Path of the field as the API spells it, for example `lease.duration`. */
  readonly field: string;
  /** The rule in plain words, for example `must be at least 1s`. */
  readonly rule: string;
  /** What was sent, shortened for display. */
  readonly value: string;
}

/** What a program may need of a fault beyond its text. Every entry is optional; absent means unknown. */
export interface FaultDetails {
  readonly violations?: readonly FieldViolation[];
  readonly lease?: string;
  readonly holder?: string;
  readonly token?: bigint;
  readonly revision?: bigint;
  readonly successor?: string;
  readonly retryAfterMs?: number;
  readonly applied?: Applied;
  /** The configured limit that was hit, and its value. */
  readonly limit?: { readonly name: string; readonly value: bigint };
  /** Whatever else names the thing that failed. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** What a {@link Fault} is made of. */
export interface FaultInput {
  readonly code: FaultCode;
  /** Stable upper-case word for programs, for example `LEASE_HELD`. */
  readonly reason: string;
  /** Lower-case text for people: the thing, the rule, the numbers. */
  readonly message: string;
  readonly details?: FaultDetails;
  readonly cause?: unknown;
}

/** A failure that the caller may have to act on. The one error class that crosses process boundaries. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly reason: string;
  readonly details: FaultDetails;

  constructor(input: FaultInput) {
    super(input.message, input.cause === undefined ? undefined : { cause: input.cause });
    this.code = input.code;
    this.reason = input.reason;
    this.details = input.details ?? {};
  }

  /** Whether the same request may succeed later without being changed. */
  get retryable(): boolean {
    return retryableCodes.has(this.code) || this.details.retryAfterMs !== undefined;
  }
}

/**
 * The codes that are worth a retry by themselves; any other is when its sender says after how long, as a rate limit
 * does. A retry of a change keeps its attempt number, because `details.applied` may be `UNKNOWN`.
 */
const retryableCodes: ReadonlySet<FaultCode> = new Set(["UNAVAILABLE", "ABORTED"]);

/** The code of a number from the wire; an unknown number is UNKNOWN, never a crash. */
export function faultCodeOf(number: number): FaultCode {
  for (const [name, value] of Object.entries(faultCodes)) if (value === number) return name as FaultCode;
  return "UNKNOWN";
}

/** Any thrown value as a fault. A programmer's mistake becomes INTERNAL with its cause kept. */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Fault({ code: "INTERNAL", reason: "INTERNAL", message, cause: thrown });
}

/** An INVALID_ARGUMENT fault that lists every broken rule at once. */
export function invalid(violations: readonly FieldViolation[]): Fault {
  const text = violations.map(({ field, rule, value }) => `${field} ${rule} (got ${value})`).join("; ");
  return new Fault({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", message: text, details: { violations } });
}
