// Runs the built simulator; `--help` says how.
import { readArguments, usage } from "./dist/arguments.js";
import { simulateInThreads } from "./dist/simulate-threads.js";

const tell = (line) => process.stdout.write(`${line}\n`);
process.exitCode = await main(process.argv.slice(2));

async function main(argv) {
  if (argv.includes("--help")) {
    tell(usage);
    return 0;
  }
  let given;
  try {
    given = readArguments(argv);
  } catch (error) {
    process.stderr.write(`tenure: ${error.message.split("\n", 1)[0]}\n\n${usage}\n`);
    return 2;
  }
  const { violations } = await simulateInThreads(given, tell);
  return violations > 0 ? 1 : 0;
}
