import type { Position } from "./position.ts";

/** One value under the protection of a lease. */
export interface GuardedValue {
  readonly value: Uint8Array;
  /** The last write. */
  readonly revision: Position;
  /** The term that wrote it. */
  readonly token: bigint;
  readonly holder: string;
}
