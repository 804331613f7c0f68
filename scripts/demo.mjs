// `npm run demo`: the product in two minutes. Prepares, starts a system of its own beside any other, with data that is
// forgotten afterwards, and tells the story on it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, checkNode, installDependencies } from "./prepare.mjs";
import { readSwitches } from "./switches.mjs";

readSwitches(`usage: npm run demo

Starts a system of its own, with data that is forgotten afterwards, and shows on it in two minutes how a fleet is led,
upgraded and loses its leader. Ctrl-C ends all of it.

  --help               this text`);
checkNode();
installDependencies();
build();

const file = (path) => fileURLToPath(new URL(`../packages/${path}`, import.meta.url));
const data = mkdtempSync(join(tmpdir(), "tenure-demo-"));
const flags = ["--port", "auto", "--data", join(data, "data"), "--log-level", "error"];
// In a group of its own: a Ctrl-C reaches the story first, which ends its fleet while the system still serves.
const system = spawn(process.execPath, [file("launcher/dist/start.js"), ...flags], {
  detached: true,
  stdio: ["ignore", "pipe", "pipe"],
});
let said = "";
for (const stream of [system.stdout, system.stderr]) stream.on("data", (chunk) => (said += chunk));
const systemEnded = once(system, "exit");
let story;
let isStopped = false;
// The story finds out by itself, and tells by its end.
process.stdout.on("error", () => undefined);
// However the demo is asked to end, the story ends its fleet first, and the system ends with its data.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    isStopped = true;
    story?.kill(signal);
  });
}
process.on("exit", () => system.kill("SIGTERM"));

async function end(code) {
  system.kill("SIGTERM");
  await systemEnded;
  rmSync(data, { recursive: true, force: true });
  process.exit(code);
}

console.log("starting a system for the demo ...");
const startedMs = performance.now();
while (!/gRPC +(\S+)/.test(said)) {
  const hasEnded = system.exitCode !== null || system.signalCode !== null;
  if (hasEnded || isStopped || performance.now() - startedMs > 120_000) {
    if (!isStopped) console.error(`tenure: the system did not start:\n${said}`);
    await end(1);
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
story = spawn(process.execPath, [file("cli/dist/demo/main.js"), /gRPC +(\S+)/.exec(said)[1]], {
  stdio: "inherit",
});
const [code] = await once(story, "exit");
await end(code ?? 1);
