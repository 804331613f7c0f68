// What `npm start` and `npm test` share: a check of Node, the dependencies, and a build. Uses nothing but Node and npm,
// because it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** Ends the script with one line that says what is wrong. */
export function fail(message) {
  console.error(`tenure: ${message}`);
  process.exit(1);
}

/** Refuses a Node.js that is too old, with the version that is needed. */
export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Node.js ${version} is too old: install 20.19 or later, then run this again`);
  }
}

/** Installs the locked dependencies, unless npm has done so since the lock file last changed. */
export function installDependencies() {
  if (changedAtMs("node_modules/.package-lock.json") >= changedAtMs("package-lock.json")) return;
  console.log("tenure: installing dependencies (once, about half a minute)");
  const { status } = run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (status !== 0) fail("npm could not install the dependencies, see above");
}

/** When a file of the repository last changed; 0 if it is not there. */
function changedAtMs(path) {
  return statSync(`${root}${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Builds every package; what has not changed comes from the cache. */
export function build() {
  const { status, output } = turbo(["run", "build", "--output-logs=errors-only"], "pipe");
  if (status === 0) return;
  console.error(output);
  fail("the build failed, see above");
}

/** Runs turbo and returns its exit status, and its output when it was asked for. */
export function turbo(args, stdio = "inherit", environment = {}) {
  const { status, stdout, stderr } = spawnSync("npx", ["--no-install", "turbo", ...args], {
    cwd: root,
    stdio: ["ignore", stdio, stdio],
    encoding: "utf8",
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", TURBO_NO_UPDATE_NOTIFIER: "1", ...environment },
  });
  return { status, output: `${stdout ?? ""}${stderr ?? ""}` };
}

/** Runs a command in the repository's root, its output shown. */
export function run(command, args) {
  return spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
}
