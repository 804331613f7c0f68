import type { HoldOptions } from "../term/hold-options.ts";
import type { DurationInput } from "../timing/duration-input.ts";

/** How a lock is taken. */
export interface LockOptions extends HoldOptions {
  /**
   * How long to stand in the queue: `true` (default) until it is granted, `false` not at all, or a duration. A lock that
   * is not granted rejects with LEASE_HELD or WAIT_ENDED.
   */
  readonly wait?: boolean | DurationInput | undefined;
  /** Aborting it leaves the queue; a lock that was granted meanwhile is given back. */
  readonly signal?: AbortSignal | undefined;
  /** How long to try while the service gives no answer, for a lock that does not wait. Default 5 s. */
  readonly timeout?: DurationInput | undefined;
  /** `exclusive` (default); `shared` with other readers; `counted` by units of the lock's capacity. */
  readonly mode?: "exclusive" | "shared" | "counted" | undefined;
  /** Units of a counted lock to take. Default 1. */
  readonly units?: number | undefined;
  /** Units that a counted lock has in all, if this call is the one that creates it. Default 1. */
  readonly capacity?: number | undefined;
}
