import type { Command } from "../command/command.ts";
import { globalFlags } from "../command/global-flags.ts";

/** The shells that completion is made for. */
export const shells = ["bash", "zsh", "fish"] as const;

/** One of {@link shells}. */
export type Shell = (typeof shells)[number];

/** The completion script of a shell, made of the table of commands. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const branches = branchesOf(commands);
  return shell === "fish"
    ? fishScript(commands, branches)
    : shell === "zsh"
      ? zshScript(branches)
      : bashScript(branches);
}

/** What may follow the words typed so far: the words in order, separated by a space, and the choices. */
interface Branch {
  readonly after: string;
  readonly choices: readonly string[];
}

function branchesOf(commands: readonly Command[]): readonly Branch[] {
  const nouns = [...new Set(commands.map(({ path }) => path[0] ?? ""))];
  const first: Branch = { after: "", choices: [...nouns, "help", "version"] };
  const verbs = nouns.flatMap((noun) => {
    const choices = commands.flatMap(({ path: [one, verb] }) => (one === noun && verb !== undefined ? [verb] : []));
    return choices.length === 0 ? [] : [{ after: noun, choices }];
  });
  const flags = commands.map((command) => ({ after: command.path.join(" "), choices: flagsOf(command) }));
  return [first, ...verbs, ...flags];
}

function flagsOf(command: Command): readonly string[] {
  return [...(command.flags ?? []), ...globalFlags].map(({ name }) => `--${name}`);
}

/** The shell's `case` over what was typed: the choices of the longest branch that fits. */
function caseLines(branches: readonly Branch[]): string {
  return branches
    .toSorted((left, right) => right.after.length - left.after.length)
    .filter(({ after }) => after !== "")
    .map(({ after, choices }) => `    "${after} "*) choices="${choices.join(" ")}" ;;`)
    .join("\n");
}

function bashScript(branches: readonly Branch[]): string {
  return `# tenure completion for bash: source <(tenure completion bash)
_tenure() {
  local typed="\${COMP_WORDS[*]:1:COMP_CWORD-1} " current="\${COMP_WORDS[COMP_CWORD]}" choices
  case "$typed" in
${caseLines(merged(branches))}
    " ") choices="${branches[0]?.choices.join(" ")}" ;;
  esac
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _tenure tenure
`;
}

function zshScript(branches: readonly Branch[]): string {
  return `#compdef tenure
# tenure completion for zsh: source <(tenure completion zsh)
_tenure() {
  local typed="\${words[2,CURRENT-1]} " choices
  case "$typed" in
${caseLines(merged(branches))}
    " ") choices="${branches[0]?.choices.join(" ")}" ;;
  esac
  compadd -- \${=choices} || _files
}
compdef _tenure tenure
`;
}

/** A noun that is also a command, such as \`lock\`, offers verbs and flags alike. */
function merged(branches: readonly Branch[]): readonly Branch[] {
  const all = new Map<string, readonly string[]>();
  for (const { after, choices } of branches) all.set(after, [...(all.get(after) ?? []), ...choices]);
  return [...all].map(([after, choices]) => ({ after, choices }));
}

function fishScript(commands: readonly Command[], branches: readonly Branch[]): string {
  const lines = branches.map(({ after, choices }) => {
    const words = choices.filter((choice) => !choice.startsWith("--"));
    const condition = after === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${after}`;
    return words.length === 0 ? "" : `complete -c tenure -f -n '${condition}' -a '${words.join(" ")}'`;
  });
  const flags = commands.flatMap(({ flags = [], path }) =>
    flags.map(({ name, short, summary, value }) => {
      const condition = path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
      const typed = `-l ${name}${short === undefined ? "" : ` -s ${short}`}${value === undefined ? "" : " -r"}`;
      return `complete -c tenure -n '${condition}' ${typed} -d '${summary.replaceAll("'", "\\'")}'`;
    }),
  );
  const everywhere = globalFlags.map(({ name, summary, value }) => {
    return `complete -c tenure -l ${name}${value === undefined ? "" : " -r"} -d '${summary}'`;
  });
  const header = "# tenure completion for fish: tenure completion fish | source";
  return [header, ...lines.filter((line) => line !== ""), ...flags, ...everywhere, ""].join("\n");
}
