import { commands, runCommandLine, type Terminal } from "@tenure/cli";

/** What a user sees of a command line. */
export interface Seen {
  readonly code: NodeJS.Signals | number;
  /** Standard output and standard error, in the order of their lines. */
  readonly text: string;
}

/** Runs a command line in this process, with this environment and no configuration file of whoever runs the tests. */
export async function runCli(line: string, environment: Readonly<Record<string, string>>): Promise<Seen> {
  const lines: string[] = [];
  const add = (text: string): void => void lines.push(text);
  const looks = { isTerminal: false, columns: 80, rows: 24, paint: (text: string) => text };
  const terminal: Terminal = { ...looks, print: add, write: add, note: add, confirm: async () => true };
  const surroundings = { TENURE_CONFIG: "/nonexistent/config.yaml", ...environment };
  const code = await runCommandLine(commands, { argv: line.split(" "), environment: surroundings, terminal });
  return { code, text: lines.join("\n") };
}
