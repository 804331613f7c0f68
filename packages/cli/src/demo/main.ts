// `npm run demo`: node dist/demo/main.js HOST:PORT, against a deployment that nobody else uses.
import { commands } from "../commands.ts";
import { openConnection } from "../context/connection.ts";
import { exitCodes, failureText } from "../exit-code.ts";
import { processTerminal } from "../output/terminal.ts";
import { runCommandLine } from "../run-command-line.ts";
import { Story } from "./story.ts";

const endpoint = process.argv[2] ?? "127.0.0.1:8368";
const terminal = processTerminal(process.env);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => stop.abort(new Error("stopped")));
}
// Whoever reads may stop early, as `head` does: the fleet must not outlive the story.
process.stdout.on("error", () => stop.abort(new Error("nobody reads")));

const settings = {
  endpoints: [endpoint],
  namespace: "demo",
  listedNamespace: "",
  tls: undefined,
  authorization: undefined,
  timeoutMs: undefined,
  childEnvironment: {},
};

const next = `
What to try next, in a second terminal after npm start:
  npx tenure exec hello/world -- sh -c 'echo "token $TENURE_TOKEN"; sleep 60'
  npx tenure leases -w
  npx tenure explain hello/world
  npx tenure --help
The guide is docs/cli.md.`;

try {
  await using tenure = await openConnection(settings, { signal: stop.signal });
  const environment = { ...process.env, TENURE_ENDPOINT: endpoint };
  const lines = [["history", "demo/scheduler"], ["status"]];
  await new Story(tenure, endpoint, terminal, stop.signal).tell(async () => {
    for (const argv of lines) {
      terminal.print(`\n$ tenure ${argv.join(" ")}`);
      await runCommandLine(commands, { argv, environment, terminal });
    }
  });
  terminal.print(next);
} catch (error) {
  if (!stop.signal.aborted) terminal.note(`tenure: ${failureText(error)}`);
  process.exitCode = exitCodes.error;
}
process.stdout.write("", () => process.exit());
