/** How a winner is chosen. The order is the candidates' precedence, lowest first. */
export const strategyKinds = [
  "oldestCompatibilityVersion",
  "newestCompatibilityVersion",
  "priority",
  "expression",
  "noCoordination",
  "vendor",
] as const;

/** One way to choose a winner. */
export type StrategyKind = (typeof strategyKinds)[number];

/** A strategy with what it needs. */
export interface Strategy {
  readonly kind: StrategyKind;
  /** The ranking, for `expression`; empty otherwise. */
  readonly expression: string;
  /** `domain/name`, for `vendor`; empty otherwise. */
  readonly vendor: string;
}

/** Who set a lease's strategy. Only an operator's overrides the candidates (rule 21). */
export type StrategySource = "operator" | "consensus" | "written";

/** A lease's strategy and where it comes from. */
export interface StrategySetting {
  readonly strategy: Strategy;
  readonly source: StrategySource;
  readonly author: string;
  readonly reason: string;
}

/** How candidates that ask for different strategies are reconciled. */
export type ConsensusRule = "precedence" | "highestBinaryVersion";

/** Candidates that ask for strategies which cannot be reconciled. */
export interface StrategyConflict {
  readonly sides: readonly { readonly strategy: Strategy; readonly candidates: readonly string[] }[];
}
