import type { TimingOptions } from "../timing/term-timing.ts";

/** What may be said about any hold, of a leader or a lock. */
export interface HoldOptions extends TimingOptions {
  /** The identity that the record shows; the client's own unless given. At most 253 bytes. */
  readonly holder?: string | undefined;
  /** What observers see with the hold, such as an address. At most 4 KiB. */
  readonly value?: Uint8Array | string | undefined;
  /** What direct clients compare to take precedence; empty ranks lowest. */
  readonly holderKey?: string | undefined;
  /** The component, its release and the digest of its configuration, for migration locks. */
  readonly participant?:
    | { readonly component: string; readonly version: string; readonly configurationDigest?: Uint8Array }
    | undefined;
  /**
   * What happens when the work still runs at the deadline. `exit` (default) ends the process with code 20 within σ,
   * because nothing else surely stops work that has not heard its signal. `signal-only` leaves it at the signal: only for
   * work whose every effect carries the token.
   */
  readonly onOverrun?: "exit" | "signal-only" | undefined;
}
