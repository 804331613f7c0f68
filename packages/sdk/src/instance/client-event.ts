import type { TenureError } from "../errors.ts";
import type { LeaseName } from "../term/lease-name.ts";
import type { TermEnd } from "../term/term-end.ts";

/** What a client does, one event per decision, for logs. */
export type ClientEvent =
  | { readonly kind: "connected" }
  | { readonly kind: "reconnecting"; readonly error: TenureError | undefined }
  | { readonly kind: "campaigning"; readonly lease: LeaseName }
  /** A claim failed and is tried again. */
  | {
      readonly kind: "claim-failed";
      readonly lease: LeaseName;
      readonly error: TenureError;
      readonly retryInMs: number;
    }
  /** A watch for new leaders failed for good. */
  | { readonly kind: "observe-failed"; readonly lease: LeaseName; readonly error: TenureError }
  | { readonly kind: "term-began"; readonly lease: LeaseName; readonly token: bigint }
  | { readonly kind: "term-at-risk"; readonly lease: LeaseName; readonly token: bigint; readonly error: TenureError }
  | { readonly kind: "term-held"; readonly lease: LeaseName; readonly token: bigint }
  /** The function was told to finish. */
  | { readonly kind: "term-ending"; readonly lease: LeaseName; readonly token: bigint; readonly end: TermEnd }
  | { readonly kind: "term-lost"; readonly lease: LeaseName; readonly token: bigint; readonly end: TermEnd }
  | { readonly kind: "term-released"; readonly lease: LeaseName; readonly token: bigint }
  /** The release found no answer: the lease becomes free when it expires. */
  | { readonly kind: "release-failed"; readonly lease: LeaseName; readonly token: bigint; readonly error: TenureError };
