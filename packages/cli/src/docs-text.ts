import type { Command, Flag } from "./command/command.ts";
import { globalFlags } from "./command/global-flags.ts";
import { flagText, usageLine, versionFlag, versionMeaning } from "./command/help.ts";
import { exitCodeTexts } from "./exit-code.ts";

/** The page `docs/cli.md`, made of the table of commands. */
export function docsText(commands: readonly Command[]): string {
  return [
    introduction,
    ...exitCodeTexts.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
    "`--pass-exit-code` ends with the program's own code, 128 + n for signal n. A command that a signal ended dies by that",
    "signal itself, so that shells and service managers see what happened.",
    "",
    "## Flags of every command",
    "",
    ...flagTable(globalFlags),
    `| \`${versionFlag}\` | ${versionMeaning} |`,
    "",
    "## Commands",
    "",
    ...commands.flatMap(commandSection),
  ].join("\n");
}

const introduction = `# The command line

\`tenure\` is what operators type and scripts run. [Its README](../packages/cli/README.md) says what it guarantees. This page
is made from the table of commands by \`npm run docs -w @tenure/cli\`.

Leases are named \`namespace/name\`, or \`name\` in the namespace of \`--namespace\`, \`TENURE_NAMESPACE\` or the context, which is
\`default\` otherwise. Results go to standard output; questions, present states and remarks to standard error. Colours and
tables that are redrawn are for terminals only, and \`NO_COLOR\` turns colours off. \`-o json\`, \`jsonl\` and \`yaml\` print the
records as the API defines them. Every change shows the present state and asks; \`--yes\` does not ask, \`--dry-run\` changes
nothing, and what \`--reason\` says is kept where the flag's text says.

\`list\` shows all namespaces unless one is named: by \`--namespace\`, \`TENURE_NAMESPACE\` or the context, in this order; then
it shows that one alone. \`--namespace ''\` shows all whatever the others say. Identities have no namespace.
How leaders are chosen, and every setting of a lease, is in [elections.md](elections.md).

## Where it connects to

Flags go before the environment, which goes before the context in use.

| variable | meaning |
| --- | --- |
| \`TENURE_ENDPOINT\` | gateways, \`host:port\` with commas between; \`127.0.0.1:8368\` if nothing names one |
| \`TENURE_NAMESPACE\` | the namespace of leases that are named without one, and of lists |
| \`TENURE_CONTEXT\` | the context of the configuration file to use |
| \`TENURE_CONFIG\` | the configuration file; \`tenure/config.yaml\` in \`XDG_CONFIG_HOME\` or \`~/.config\` if not set |
| \`TENURE_TLS_CA\`, \`TENURE_TLS_CERT\`, \`TENURE_TLS_KEY\` | PEM files; any of them means TLS; the last two show who the client is |
| \`TENURE_AUTHORIZATION\` | sent as the \`authorization\` of every session, for a proxy in front: gateways do not read it |

A program under \`tenure exec\` or \`tenure lock\` finds \`TENURE_LEASE\`, \`TENURE_TOKEN\` and \`TENURE_HOLDER\` in its environment, and
\`TENURE_RENEW_KEY\`, the secret with which \`tenure guard put\` writes under its term.

## Exit codes

| code | meaning |
| --- | --- |`;

function commandSection(command: Command): readonly string[] {
  const { details, examples, flags = [], path, summary } = command;
  const width = Math.max(...examples.map(([line]) => line.length));
  return [
    `### tenure ${path.join(" ")}`,
    "",
    `${summary}.${details === undefined ? "" : ` ${details.replaceAll("\n", " ")}`}`,
    "",
    "```sh",
    usageLine(command),
    ...examples.map(([line, meaning]) => `${line.padEnd(width)}   # ${meaning}`),
    "```",
    "",
    ...(flags.length === 0 ? [] : [...flagTable(flags), ""]),
  ];
}

function flagTable(flags: readonly Flag[]): readonly string[] {
  const rows = flags.map((flag) => `| \`${flagText(flag)}\` | ${flag.summary} |`);
  return ["| flag | meaning |", "| --- | --- |", ...rows];
}
