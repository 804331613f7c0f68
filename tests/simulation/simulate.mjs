// Runs the built simulator: node simulate.mjs --seeds 10000 [--from N] [--jobs N] [--keep 1,4]
import { readArguments } from "./dist/arguments.js";
import { simulateInThreads } from "./dist/simulate-threads.js";

const tell = (line) => process.stdout.write(`${line}\n`);
const { violations } = await simulateInThreads(readArguments(process.argv.slice(2)), tell);
process.exitCode = violations > 0 ? 1 : 0;
