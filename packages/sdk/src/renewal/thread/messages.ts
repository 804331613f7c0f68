import type { TermEndReason } from "@tenure/contracts";
import type { SharedTime } from "@tenure/kernel";
import { type ErrorInput, TenureError } from "../../errors.ts";
import type { EndOfTermMark, KeptHold } from "../../session/session.ts";
import type { TransportChoice } from "../../transport/make-transport.ts";

/** What is done when the main thread has stalled past a term: the process is ended, or nothing. */
export type StallAction = "exit" | "signal-only";

/** What the renewing thread starts with. Every value can be handed to another thread. */
export interface ThreadStart {
  readonly clientId: string;
  readonly renewKey: Uint8Array;
  readonly userAgent: string;
  readonly transport: TransportChoice;
  readonly beatIntervalMs: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly stopBoundMs: number;
  readonly mainSilenceMs: number;
  readonly onStall: StallAction;
  /** Makes both threads show the same time. */
  readonly time: SharedTime;
  /**
   * Slot 0 of this page is the main thread's last sign of life. The others are deadlines of terms that the thread was not
   * told of, because they had only just begun; 0 where there is none.
   */
  readonly life: SharedArrayBuffer;
}

/** What the main thread asks for; many in one message. */
export type ThreadOrder =
  | { readonly kind: "page"; readonly page: SharedArrayBuffer }
  | { readonly kind: "keep"; readonly id: number; readonly slot: number; readonly hold: KeptHold }
  /** The hold's deadline is watched on, and nothing else. */
  | { readonly kind: "stopRenewing"; readonly id: number }
  | { readonly kind: "drop"; readonly id: number }
  | { readonly kind: "renewNow"; readonly id: number }
  | { readonly kind: "close" };

/** What the renewing thread tells; many in one message. */
export type ThreadReport =
  /** There is a connection: what is handed over now is renewed. */
  | { readonly kind: "up" }
  /** The thread has failed and renews no more; it watches the main thread until it is ended. */
  | { readonly kind: "failed"; readonly error: PlainError }
  /** These slots have new instants. */
  | { readonly kind: "renewed"; readonly slots: Uint32Array }
  | { readonly kind: "missed"; readonly ids: Float64Array; readonly error: PlainError }
  | { readonly kind: "refused"; readonly id: number; readonly error: PlainError }
  | { readonly kind: "endOfTerm"; readonly id: number; readonly mark: EndOfTermMark }
  | { readonly kind: "ended"; readonly id: number; readonly reason: TermEndReason; readonly note: string }
  /** Nothing is written into the hold's slot any more. */
  | { readonly kind: "dropped"; readonly id: number };

/** An error without its class and cause, as it passes between threads. */
export type PlainError = Omit<ErrorInput, "cause">;

export function plainError({ applied, code, details, message, reason, retryable }: TenureError): PlainError {
  return { applied, code, details, message, reason, retryable };
}

export function errorFromPlain(error: PlainError): TenureError {
  return new TenureError(error);
}
