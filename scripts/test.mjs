// `npm test`: from a fresh clone to a verdict. Prepares, obtains nats-server, then lints, type-checks and tests every
// package, and ends with one line that counts. `--long` repeats the scenarios with the counts that a release needs.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { build, checkNode, fail, installDependencies, root, run, turbo } from "./prepare.mjs";

checkNode();
installDependencies();
build();

const { findNatsServer } = await import("../packages/launcher/dist/index.js");
const server = await findNatsServer({
  environment: process.env,
  report: (line) => console.log(`tenure: ${line}`),
}).catch((error) => fail(error.message));

for (const results of resultFiles()) rmSync(results, { force: true });
const lint = run("npm", ["run", "--silent", "lint"]);
const tests = turbo(
  ["run", "typecheck", "test", "--continue", "--concurrency=2", "--output-logs=new-only"],
  "inherit",
  {
    TENURE_NATS_SERVER: server.path,
    ...(process.argv.includes("--long") ? { TENURE_LONG: "1" } : {}),
  },
);
const status = lint.status || tests.status;

let passed = 0;
let failed = 0;
for (const file of resultFiles()) {
  if (!existsSync(file)) continue;
  const results = JSON.parse(readFileSync(file, "utf8"));
  passed += results.numPassedTests;
  failed += results.numFailedTests;
}
if (status !== 0 && failed === 0) {
  console.log("tenure: lint, the type check or a test file as a whole failed, see above");
  failed = 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(status === 0 && failed === 0 ? 0 : 1);

/** Where each workspace's test run leaves its counts; a cached run restores the file. */
function resultFiles() {
  return ["packages", "services", "tests"].flatMap((group) =>
    readdirSync(`${root}${group}`).map((name) => `${root}${group}/${name}/.results/vitest.json`),
  );
}
