import type { Benchmark } from "../benchmark.ts";
import { connections } from "./connections.ts";
import { durableOnOne, durableOnThree } from "./durable.ts";
import { grant } from "./grant.ts";
import { growth } from "./growth.ts";
import { guarded } from "./guarded.ts";
import { handOver } from "./hand-over.ts";
import { idle } from "./idle.ts";
import { limits } from "./limits.ts";
import { memory } from "./memory.ts";
import { pairs } from "./pairs.ts";
import { renewals } from "./renewals.ts";
import { watch } from "./watch.ts";

const all: readonly Benchmark[] = [
  limits,
  renewals,
  connections,
  pairs,
  handOver,
  watch,
  guarded,
  durableOnOne,
  durableOnThree,
  idle,
  grant,
  growth,
  memory,
];

/** The benchmarks of these names; all when there are none. */
export function benchmarksNamed(names: readonly string[]): readonly Benchmark[] {
  const unknown = names.find((name) => all.every((benchmark) => benchmark.name !== name));
  if (unknown !== undefined) {
    throw new Error(`there is no benchmark ${unknown}; there are ${all.map(({ name }) => name).join(", ")}`);
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}
