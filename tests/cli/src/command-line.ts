import { fileURLToPath } from "node:url";
import { commands, runCommandLine, type Terminal } from "@tenure/cli";
import { type ManagedProcess, startScript } from "@tenure/testkit";

/** The built command line, as `bin/tenure` starts it. */
export const mainFile = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));
/** What `npm run demo` runs. */
export const demoFile = fileURLToPath(new URL("../../../packages/cli/dist/demo/main.js", import.meta.url));
/** The command as it is installed. */
export const binFile = fileURLToPath(new URL("../../../packages/cli/bin/tenure", import.meta.url));

/** The environment of a command line that uses this gateway and no configuration file of whoever runs the tests. */
export function environmentOf(endpoint: string): Readonly<Record<string, string>> {
  return { TENURE_ENDPOINT: endpoint, TENURE_CONFIG: "/nonexistent/config.yaml" };
}

/** What a user sees of a command line. */
export interface Seen {
  readonly code: NodeJS.Signals | number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
}

/** What a command line is run with. */
export interface RunOptions {
  /** Whether a person watches; then colours are shown as `<good>...</good>`. */
  readonly isTerminal?: boolean;
  /** What that person answers. */
  readonly answer?: boolean | (() => Promise<boolean>);
  readonly environment?: Readonly<Record<string, string>>;
  /** Asks the command to stop, as Ctrl-C does. */
  readonly signal?: AbortSignal;
  /** Told of everything that is printed. */
  readonly onOutput?: (out: string) => void;
}

/** Runs a command line in this process against a gateway: the same code as the command's, without the start of a process. */
export async function run(endpoint: string, line: readonly string[] | string, options: RunOptions = {}): Promise<Seen> {
  const argv = typeof line === "string" ? line.split(" ") : line;
  let out = "";
  let err = "";
  const add = (text: string): void => {
    out += text;
    options.onOutput?.(out);
  };
  const { answer, isTerminal = false } = options;
  const terminal: Terminal = {
    isTerminal,
    columns: 60,
    rows: 24,
    paint: (text, colour) => (isTerminal && colour !== undefined ? `<${colour}>${text}</${colour}>` : text),
    print: (text) => add(`${text}\n`),
    write: add,
    note: (text) => {
      err += `${text}\n`;
    },
    confirm: async (question) => {
      err += `${question} [y/N] `;
      return typeof answer === "function" ? await answer() : answer;
    },
  };
  const environment = { ...environmentOf(endpoint), ...options.environment };
  const { signal } = options;
  const code = await runCommandLine(commands, { argv, environment, terminal, ...(signal && { signal }) });
  return { code, out, err };
}

/** Starts a command line in a process of its own. */
export function start(endpoint: string, argv: readonly string[]): ManagedProcess {
  return startScript(mainFile, { name: `tenure ${argv[0]}`, args: argv, env: environmentOf(endpoint) });
}

/** What differs from run to run, replaced by a word: tokens and revisions, times, spans, decisions. */
export function steady(text: string): string {
  return text
    .replaceAll(/\b\d{13,}\b/g, "NUMBER")
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z/g, "INSTANT")
    .replaceAll(/\b\d\d:\d\d:\d\d\b/g, "TIME")
    .replaceAll(/\b((\d+d)?(\d+h)?(\d+m)?\d+(\.\d+)?m?s|(\d+[dhm])+)\b/g, "SPAN")
    .replaceAll(/ +/g, " ")
    .replaceAll(/ +$/gm, "");
}
