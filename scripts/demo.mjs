// `npm run demo`: the product in two minutes. Prepares, starts a system of its own beside any other, with data that is
// forgotten afterwards, and tells the story on it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, checkNode, installDependencies } from "./prepare.mjs";

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
process.on("SIGINT", () => undefined);
process.on("exit", () => system.kill("SIGTERM"));

console.log("starting a system for the demo ...");
while (!/gRPC +(\S+)/.test(said)) {
  if (system.exitCode !== null) throw new Error(`the system did not start:\n${said}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
}
const story = spawn(process.execPath, [file("cli/dist/demo/main.js"), /gRPC +(\S+)/.exec(said)[1]], {
  stdio: "inherit",
});
const [code] = await once(story, "exit");
system.kill("SIGTERM");
await once(system, "exit");
rmSync(data, { recursive: true, force: true });
process.exit(code ?? 1);
