// `npm test`: from a fresh clone to a verdict. Prepares, obtains nats-server, then lints, type-checks and tests every
// package, and ends with one line that counts. `--long` repeats the scenarios with the counts that a release needs.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { build, checkNode, fail, installDependencies, root, run, turbo } from "./prepare.mjs";
import { readSwitches } from "./switches.mjs";

const usage = `usage: npm test [-- options]

Lints, type-checks and tests every package, and ends with one line that counts. What has passed since it last changed
comes from the cache. Exits with 1 when anything failed.

  --long               with the counts that a release needs, which takes hours (npm run test:long)
  --help               this text`;
const { long: isLong } = readSwitches(usage, ["long"]);
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
let tested = test(2);
let verdict = countResults();
// On a busy machine a wait may end in vain although nothing is wrong. Such suites alone get a second run, one at a
// time, and are named; a wrong answer is final.
const inVain = verdict.failures;
if (tested !== 0 && inVain.length > 0 && inVain.every(isWaitInVain)) {
  tell("waited in vain, now once more on a quieter machine", inVain);
  tested = test(1);
  verdict = countResults();
  if (tested === 0) tell("passed only on a quieter machine", inVain);
}

const status = lint.status || tested;
tell("failed", verdict.failures);
if (status !== 0 && verdict.failures.length === 0) {
  console.log("tenure: lint, the type check or a test file as a whole failed, see above");
}
const failed = verdict.failures.length || (status === 0 ? 0 : 1);
console.log(`${verdict.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Runs the type check and every suite that has not passed yet; gives the exit status. */
function test(concurrency) {
  const args = ["run", "typecheck", "test", "--continue", `--concurrency=${concurrency}`, "--output-logs=new-only"];
  const long = isLong ? { TENURE_LONG: "1" } : {};
  return turbo(args, "inherit", { TENURE_NATS_SERVER: server.path, ...long }).status;
}

/** What the suites found, from the files that they left. */
function countResults() {
  const written = resultFiles().filter((file) => existsSync(file));
  const suites = written.map((file) => JSON.parse(readFileSync(file, "utf8")));
  const files = suites.flatMap(({ testResults }) => testResults);
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  // A file fails as a whole when it cannot be loaded, or when what comes before its tests fails.
  const broken = files.filter(({ message, status }) => status === "failed" && message !== "");
  return {
    passed: tests.filter(({ status }) => status === "passed").length,
    failures: [
      ...tests.filter(({ status }) => status === "failed"),
      ...broken.map(({ message, name }) => ({ fullName: name, failureMessages: [message] })),
    ],
  };
}

/** Whether a test failed because something did not come in time, not because of what came. */
function isWaitInVain({ failureMessages }) {
  // The last two are what vitest reports of a test or hook that ran into its own time limit.
  const signs =
    /\bwaited \d+ ms in vain\b|\bdid not come within \d+ ms|^Error: STACK_TRACE_ERROR\n|^Hook timed out in /;
  return failureMessages.every((message) => signs.test(message));
}

/** Names tests, each with the first line of why it failed. */
function tell(what, failures) {
  for (const { fullName, failureMessages } of failures) {
    console.log(`tenure: ${what}: ${fullName}: ${failureMessages[0]?.split("\n", 1)[0]}`);
  }
}

/** Where each workspace's test run leaves its counts; a cached run restores the file. */
function resultFiles() {
  return ["packages", "services", "tests"].flatMap((group) =>
    readdirSync(`${root}${group}`).map((name) => `${root}${group}/${name}/.results/vitest.json`),
  );
}
