import type { MigrationAlarm } from "@tenure/contracts";
import type { TenureError } from "../errors.ts";
import type { LeaseName } from "../term/lease-name.ts";
import type { TermEnd } from "../term/term-end.ts";

/** What a controller manager does, one event per decision, for logs. */
export type ManagerEvent =
  /** Advice about the configuration, such as too many migration locks. */
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "lock-held"; readonly lock: LeaseName; readonly token: bigint }
  | { readonly kind: "lock-ended"; readonly lock: LeaseName; readonly token: bigint; readonly end: TermEnd }
  | {
      readonly kind: "controller-started";
      readonly controller: string;
      readonly lock: LeaseName;
      readonly token: bigint;
    }
  | { readonly kind: "controller-stopped"; readonly controller: string; readonly token: bigint }
  /** The migration service does not let it run here; the message names both sides. */
  | { readonly kind: "controller-refused"; readonly controller: string; readonly message: string }
  | { readonly kind: "controller-allowed"; readonly controller: string }
  /** Something is wrong with a migration that this component takes part in. */
  | { readonly kind: "alarm"; readonly alarm: MigrationAlarm }
  /** The migration service cannot be asked; what it said last stands, and the locks decide. */
  | { readonly kind: "join-failed"; readonly error: TenureError }
  | { readonly kind: "joined" };
