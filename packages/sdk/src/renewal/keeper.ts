import type { SessionPush } from "@tenure/contracts";
import type { Keeping, KeepListener, KeptHold } from "../session/session.ts";

/** Whoever renews terms: this thread or another. */
export interface Keeper extends AsyncDisposable {
  /** How many holds are kept. */
  readonly size: number;
  /** A hold may follow soon: whatever takes time to start is started. */
  warmUp?(): void;
  /**
   * Renews a hold until the keeping is disposed or the store refuses it for good. Another thread is told of it now, or
   * `"soon"`, when the present microtask is over.
   */
  keep(hold: KeptHold, listener: KeepListener, told?: "now" | "soon"): Keeping;
  /** News that came on the session; those about kept holds are told to their listeners. */
  onPush(push: SessionPush): void;
}
