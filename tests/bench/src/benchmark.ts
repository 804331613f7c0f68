import type { Systems } from "./world/systems.ts";

/** What one round of one side gave: numbers by name. */
export type Figures = Readonly<Record<string, number>>;

/** How a run is done. */
export interface RunOptions {
  /** Smaller numbers of everything, so that the whole run takes minutes. */
  readonly isQuick: boolean;
  /** How many leases "many" are in the benchmark of growth; undefined for its own number. */
  readonly leases: number | undefined;
  /** Options of Node.js for Tenure's processes, to profile them. */
  readonly nodeOptions: readonly string[];
  /** The peers and the deployment of Tenure that several benchmarks share. */
  readonly systems: Systems;
  /** Says what is being done. */
  tell(line: string): void;
}

/** In so many turns sides are warmed up: each rests as briefly before its first round as between rounds. */
export const warmUpTurns = 4;

/** A system at work, and filled. One round is measured at a time, alternating with the other sides. */
export interface Side extends AsyncDisposable {
  /** Does a part of the work that comes before the first round and does not count. */
  warmUp?(): Promise<void>;
  measure(round: number): Promise<Figures>;
}

/** What a side's figure cannot pass: the same figure of one side of `limits`, or of several together. */
export interface Limit {
  readonly figure: "rate" | "p50Ms";
  readonly sides: readonly string[];
}

/** A bound that a row has to keep. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One line of the table. */
export interface Row {
  readonly name: string;
  /** What it measures, in a sentence that needs no other. */
  readonly measures: string;
  readonly unit: "x" | "ms" | "B" | "/s" | "ms/1000";
  /** The row's number from one round of all sides; undefined when this round has none. */
  read(round: Readonly<Record<string, Figures>>): number | undefined;
  readonly target?: Target;
}

/** Sides that are measured in turns, and what is read from them. One file each, in `rows/`. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  /** The settings of each side: durability, batching, concurrency. */
  settings(options: RunOptions): readonly string[];
  /** Fewer rounds than the run's, where each round is a whole life of a process. */
  readonly mostRounds?: number;
  /** A side whose peer cannot be had rejects with MissingPeer: the others go on without it. */
  readonly sides: readonly {
    readonly name: string;
    readonly limit?: Limit | undefined;
    start(options: RunOptions): Promise<Side>;
  }[];
  readonly rows: readonly Row[];
}
