import type { Benchmark } from "./benchmark.ts";

/** What `--help` says: the options, and which benchmarks there are. */
export function helpText(benchmarks: readonly Benchmark[]): string {
  const widest = Math.max(...benchmarks.map(({ name }) => name.length));
  const lines = benchmarks.map(({ name, summary }) => `  ${name.padEnd(widest)}  ${summary}`);
  return `npm run bench -- [options]: Tenure against etcd and ZooKeeper, in ratios of one run

  --quick               the comparisons alone, in three short rounds: under 3 minutes
  --rows NAME,NAME      some of the benchmarks below; all without it, which takes 40 minutes
  --rounds N            rounds of each, 1 to 1000; 5 without it, 3 with --quick
  --leases N            how many leases "many" are in growth, 10000 to 1000000
  --check               exit with 1 when a row misses its target
  --document            put the result into docs/performance.md
  --node-options "…"    options of Node.js for the clients, such as --cpu-prof
  --help                this

${lines.join("\n")}

The table is printed, and written with a page of plots to tests/bench/results. Exit codes: 0 done, 1 a row misses its
target under --check, or something failed; 2 the command line makes no sense.
`;
}
