import type { Benchmark } from "../benchmark.ts";
import { connections } from "./connections.ts";
import { durableOnOne, durableOnThree } from "./durable.ts";
import { grant } from "./grant.ts";
import { growth } from "./growth.ts";
import { guarded } from "./guarded.ts";
import { handOverAmongMany, handOverToOne } from "./hand-over.ts";
import { idle } from "./idle.ts";
import { limits } from "./limits.ts";
import { memory } from "./memory.ts";
import { pairs } from "./pairs.ts";
import { renewals } from "./renewals.ts";
import { watch } from "./watch.ts";

/** What a quick run does: every comparison with the peers that needs no more than seconds. */
const quick: readonly Benchmark[] = [
  limits,
  renewals,
  connections,
  pairs,
  handOverToOne,
  handOverAmongMany,
  watch,
  guarded,
  durableOnThree,
];

/** What takes minutes: whole lives of processes, very many leases. */
const long: readonly Benchmark[] = [durableOnOne, idle, grant, growth, memory];

/** Every benchmark, in the order of a full run. */
export const all: readonly Benchmark[] = [...quick, ...long];

/** The benchmarks of these names; without names all of a full run, or those of a quick one. */
export function benchmarksNamed(names: readonly string[], isQuick = false): readonly Benchmark[] {
  const unknown = names.find((name) => all.every((benchmark) => benchmark.name !== name));
  if (unknown !== undefined) {
    throw new Error(`there is no benchmark ${unknown}; there are ${all.map(({ name }) => name).join(", ")}`);
  }
  if (names.length > 0) return all.filter(({ name }) => names.includes(name));
  return isQuick ? quick : all;
}
