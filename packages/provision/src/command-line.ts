import { exitCodeOf, type Host, lastLines, productVersion, usageExitCode } from "@tenure/runtime";
import { credentialsCommand } from "./credentials-command.ts";
import { initCommand } from "./init-command.ts";

const commands = { credentials: credentialsCommand, init: initCommand } as const;

/** The whole program: runs one command and gives the exit code: 0, 1 for a failure, 2 for wrong use. */
export async function runProvision(host: Host): Promise<number> {
  const [word, ...argv] = host.argv;
  if (word === "--version" || word === "-V") return print(host, `tenure-provision ${productVersion}\n`);
  if (word === undefined || word === "--help" || word === "-h") return print(host, usage(), word === undefined);
  const command = Object.hasOwn(commands, word) ? commands[word as keyof typeof commands] : undefined;
  if (command === undefined) {
    host.complain(
      `tenure provision: unknown command ${JSON.stringify(word)}: use one of ${Object.keys(commands).join(", ")}`,
    );
    return usageExitCode;
  }
  try {
    await command.run(host, argv);
    return 0;
  } catch (thrown) {
    for (const line of lastLines(`provision ${word}`, thrown)) host.complain(line);
    return exitCodeOf(thrown);
  }
}

function print(host: Host, text: string, isMistake = false): number {
  host.print(text);
  return isMistake ? usageExitCode : 0;
}

function usage(): string {
  const lines = Object.entries(commands).map(([word, { summary }]) => `  ${word.padEnd(13)}${summary}`);
  return `${["tenure-provision: what a deployment needs once, before its services start.", "", ...lines].join("\n")}\n\nEach command answers --help.\n`;
}
