import { parseArgs } from "node:util";

/** What the command line asks for. */
export interface Arguments {
  readonly isHelp: boolean;
  readonly isQuick: boolean;
  /** Exit with 1 when a row misses its target. */
  readonly isCheck: boolean;
  /** Put the result into docs/performance.md. */
  readonly isDocument: boolean;
  readonly rounds: number;
  /** How many leases "many" are in the benchmark of growth; undefined for its own number. */
  readonly leases: number | undefined;
  /** Benchmarks by name; all when empty. */
  readonly names: readonly string[];
  /** Options of Node.js for Tenure's processes. */
  readonly nodeOptions: readonly string[];
}

/** Rounds of a full run and of a quick one. */
const fullRounds = 5;
const quickRounds = 3;

/**
 * Reads `--help --quick --check --document --rounds 7 --leases 1000000 --rows growth,memory --node-options "--cpu-prof"`;
 * throws on anything else.
 */
export function readArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      document: { type: "boolean", default: false },
      rounds: { type: "string" },
      leases: { type: "string" },
      rows: { type: "string", multiple: true, default: [] },
      "node-options": { type: "string" },
    },
  });
  const isQuick = values.quick;
  const rounds = values.rounds === undefined ? (isQuick ? quickRounds : fullRounds) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1_000) {
    throw new Error(`--rounds must be 1 to 1000, not ${values.rounds}`);
  }
  const leases = values.leases === undefined ? undefined : Number(values.leases);
  if (leases !== undefined && !(Number.isInteger(leases) && leases >= 10_000 && leases <= 1_000_000)) {
    throw new Error(`--leases must be 10000 to 1000000, not ${values.leases}`);
  }
  const nodeOptions = (values["node-options"] ?? "").split(" ").filter((option) => option !== "");
  const names = values.rows.flatMap((list) => list.split(",")).filter((name) => name !== "");
  const { check: isCheck, document: isDocument, help: isHelp } = values;
  return { isHelp, isQuick, isCheck, isDocument, rounds, leases, names, nodeOptions };
}
