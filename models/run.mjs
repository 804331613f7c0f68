// Checks the models: `node models/run.mjs [--long] [--only <text>] [--jobs <n>] [--json] [--trace]`.
// Ends with status 0 if every case came out as expected, 1 if one did not, 2 if spin or gcc is missing.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cases } from "./cases.mjs";
import { check, run, tools } from "./checker.mjs";

const { values: options } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: String(Math.min(2, availableParallelism())) },
    json: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
  },
});

const write = (line) => process.stdout.write(`${line}\n`);

process.exitCode = (await missingTools()) ? 2 : await checkAll();

/** Says what is not installed, and how to install it. */
async function missingTools() {
  const missing = [];
  for (const { command, argument } of tools) {
    const { succeeded } = await run(command, [argument], tmpdir(), 30);
    if (!succeeded) missing.push(command);
  }
  if (missing.length === 0) return false;
  write(
    `the models were not checked: not installed: ${missing.join(", ")}; install with: apt-get install -y ${missing.join(" ")}`,
  );
  return true;
}

/** Runs the chosen cases, a few at a time, and prints a line for each as it ends. */
async function checkAll() {
  const chosen = cases.filter((entry) => (options.long || !entry.long) && describe(entry).includes(options.only));
  const scratch = mkdtempSync(join(tmpdir(), "tenure-models-"));
  const results = [];
  const queue = [...chosen];
  if (!options.json) write(row(["kind", "case", "rules", "found", "states", "depth", "seconds", ""]));
  const worker = async () => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      const result = await check(entry, scratch, options.trace);
      results.push(result);
      if (!options.json) report(result);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.max(1, Number(options.jobs)) }, worker));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const passed = results.filter((result) => result.passed).length;
  if (options.json) write(JSON.stringify(results));
  else write(`${passed} of ${results.length} cases as expected`);
  return passed === results.length && passed > 0 ? 0 : 1;
}

function describe(entry) {
  return `${entry.model}: ${entry.name} ${entry.flags.join(" ")}`;
}

function report(result) {
  const { kind, model, name, rules, found, states, depth, seconds, passed, expected } = result;
  const verdict = passed ? "as expected" : `EXPECTED ${expected}`;
  write(row([kind, `${model}: ${name}`, rules, found, String(states), String(depth), String(seconds), verdict]));
  if (result.output) write(result.output);
}

function row(cells) {
  const widths = [8, 52, 17, 40, 10, 6, 8, 0];
  return cells
    .map((cell, index) => cell.padEnd(widths[index]))
    .join(" ")
    .trimEnd();
}
