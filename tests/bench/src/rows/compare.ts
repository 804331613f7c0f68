import type { Benchmark, Figures, Row, RunOptions, Target } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import type { Workload } from "../workloads/index.ts";
import { startClientSide } from "../world/client-side.ts";
import { limitOf } from "./limit-of.ts";

type Sides = Benchmark["sides"];

/** A side for each client, all with the same work; its name is the client's and what `suffix` says. */
export function sidesOf(clients: readonly ClientName[], workload: Workload, suffix = "", servers: 1 | 3 = 1): Sides {
  return clients.map((client) => ({
    name: `${client}${suffix}`,
    limit: limitOf(client, workload, servers),
    start: (options: RunOptions) => startClientSide(client, workload, options, servers),
  }));
}

/** A row that compares a figure of two sides in the same round. */
export function ratioRow(
  { figure, name, of, measures, to }: { name: string; measures: string; figure: string; of: string; to: string },
  target?: Target,
): Row {
  return {
    name,
    measures,
    unit: "x",
    read: (round) => quotient(round[of]?.[figure], round[to]?.[figure]),
    ...(target === undefined ? {} : { target }),
  };
}

/** A row that shows a figure of one side. */
export function figureRow(side: string, figure: string, unit: Row["unit"], measures: string): Row {
  return {
    name: `${side}, ${figure}`,
    measures,
    unit,
    read: (round: Readonly<Record<string, Figures>>) => round[side]?.[figure],
  };
}

function quotient(of: number | undefined, to: number | undefined): number | undefined {
  return of === undefined || to === undefined ? undefined : of / to;
}
