import type { Position } from "./position.ts";

/** Which components may hold a migration lock (rule 24). */
export interface Eligibility {
  readonly configuration: string;
  /** Hexadecimal digest; a claimant with another digest is refused. */
  readonly configurationDigest: string;
  /** Who may hold the lock; empty means nobody. `*` is any component that takes part. */
  readonly components: readonly { readonly name: string; readonly versionRange: string }[];
}

/** A migration configuration in force on its lock's lease. The store keeps its text and never reads it. */
export interface MigrationRecord {
  readonly configuration: Uint8Array;
  readonly revision: Position;
}

/** A coordinator's decision, kept for Explain. The store keeps its text and never reads it. */
export interface DecisionRecord {
  readonly id: string;
  readonly body: Uint8Array;
  readonly revision: Position;
}
