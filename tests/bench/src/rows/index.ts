import type { Benchmark } from "../benchmark.ts";
import { grant } from "./grant.ts";
import { growth } from "./growth.ts";
import { memory } from "./memory.ts";

const all: readonly Benchmark[] = [grant, growth, memory];

/** The benchmarks of these names; all when there are none. */
export function benchmarksNamed(names: readonly string[]): readonly Benchmark[] {
  const unknown = names.find((name) => all.every((benchmark) => benchmark.name !== name));
  if (unknown !== undefined) {
    throw new Error(`there is no benchmark ${unknown}; there are ${all.map(({ name }) => name).join(", ")}`);
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}
