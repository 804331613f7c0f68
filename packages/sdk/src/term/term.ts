import type { TenureError } from "../errors.ts";
import type { Guard } from "../guard/guard.ts";
import type { LeaseName } from "./lease-name.ts";
import type { TermEnd } from "./term-end.ts";
import type { TermEnded } from "./term-ended.ts";
import type { TermStanding } from "./term-state.ts";

/** How a lease is held: alone, with other readers, or by a share of its units. */
export type HoldingMode = "exclusive" | "shared" | "counted";

/** What a term tells its holder. */
export interface TermEvents {
  /** Renewals pass again after the term was at risk. */
  readonly held: { readonly remainingMs: number };
  /** The first failed renewal since the last proven one: the term goes on, but on borrowed time. */
  readonly "at-risk": { readonly remainingMs: number; readonly error: TenureError };
  /** The holder may act no more. Told once, and never without a term. */
  readonly lost: { readonly end: TermEnd };
}

/** A signal whose reason is known. */
export interface TermSignal extends AbortSignal {
  /** Why the term ends; undefined while it runs. */
  readonly reason: TermEnded | undefined;
}

/**
 * One unbroken holding of a lease by this process. The object is never replaced: renewals extend it in place, and once
 * lost it stays lost. Leaving its block (`await using`) says that the work is done, and releases it.
 */
export interface Term extends AsyncDisposable {
  readonly lease: LeaseName;
  /** The fencing token: greater than that of every earlier term of the lease. Send it with every effect. */
  readonly token: bigint;
  /** The identity that the lease's record shows. */
  readonly holder: string;
  readonly mode: HoldingMode;
  /** Units of a counted hold; 1 otherwise. */
  readonly units: number;
  /** Ms until this process may act no more, by its own clock at this very moment; 0 when that is over. */
  readonly remainingMs: number;
  /** Compared with the clock at every read. */
  readonly standing: TermStanding;
  /** Aborted when the work must finish, before the term can be anyone else's; its reason says why. */
  readonly signal: TermSignal;
  /** Guarded data of the lease, written under this term's token. */
  readonly guard: Guard;
  /** Throws {@link TermEnded} unless this process may act now. Compares clocks: right also just after a pause. */
  check(): void;
  /** Says that the work is done, as leaving the block does: the lease is given back. Idempotent. */
  release(): Promise<void>;
  /** Asks for the end: the signal fires, and the term is released when its function has returned. */
  stepDown(reason?: string): void;
  /** Calls the listener for every later event of that name; returns what ends that. */
  on<Name extends keyof TermEvents>(name: Name, listener: (event: TermEvents[Name]) => void): () => void;
}
