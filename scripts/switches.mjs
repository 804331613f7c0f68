// What scripts share that take nothing but switches.
import { parseArgs } from "node:util";

/** The switches that were given. `--help` prints the usage and ends the script; what is not known ends it with 2. */
export function readSwitches(usage, names = []) {
  const options = Object.fromEntries(["help", ...names].map((name) => [name, { type: "boolean", default: false }]));
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    console.error(`tenure: ${error.message.split("\n", 1)[0]}\n\n${usage}`);
    process.exit(2);
  }
  if (!values.help) return values;
  console.log(usage);
  process.exit(0);
}
