import type { SessionPush } from "@tenure/contracts";
import type { Keeping, KeepListener, KeptHold } from "../session/session.ts";

/**
 * When another thread that renews is told of a hold. `"now"`: before `keep` returns. `"soon"`: when the present microtask
 * is over, together with others, for a caller that lets nobody act on the hold before. `"later"`: when it turns out to
 * last; until then that thread knows its deadline, and does not renew it.
 */
export type Told = "now" | "soon" | "later";

/** Whoever renews terms: this thread or another. */
export interface Keeper extends AsyncDisposable {
  /** How many holds are kept. */
  readonly size: number;
  /** A hold may follow soon: whatever takes time to start is started. */
  warmUp?(): void;
  /** Renews a hold until the keeping is disposed or the store refuses it for good. */
  keep(hold: KeptHold, listener: KeepListener, told?: Told): Keeping;
  /** News that came on the session; those about kept holds are told to their listeners. */
  onPush(push: SessionPush): void;
}
