import type { Figures } from "../benchmark.ts";
import type { Workload } from "../workloads/index.ts";
import type { ClientName } from "./client-kinds.ts";

/** What a client process is started for. */
export interface WorkOrder {
  readonly client: ClientName;
  readonly endpoint: string;
  readonly workload: Workload;
}

/** What it is asked for afterwards: one measurement. */
export interface MeasureOrder {
  readonly durationMs: number;
}

/** What it answers, once when it is ready (without figures) and once for each measurement. */
export type WorkAnswer =
  | { readonly kind: "done"; readonly figures: Figures }
  | { readonly kind: "failed"; readonly message: string };
