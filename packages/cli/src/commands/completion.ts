import type { Command } from "../command/command.ts";
import { completionScript, type Shell, shells } from "../completion/scripts.ts";
import { exitCodes, usageFailure } from "../exit-code.ts";

/** `completion SHELL`, for the commands of a table, itself included. */
export function completionCommand(others: readonly Command[]): Command {
  const command: Command = {
    path: ["completion"],
    summary: `Print the completion script of a shell: ${shells.join(", ")}`,
    positionals: [{ name: "SHELL" }],
    examples: [
      ["source <(tenure completion bash)", "in ~/.bashrc; zsh likewise"],
      ["tenure completion fish | source", "in fish"],
    ],
    async run({ positionals: [shell = ""], terminal }) {
      if (!isShell(shell))
        throw usageFailure(`SHELL must be one of ${shells.join(", ")} (got ${JSON.stringify(shell)})`);
      terminal.write(completionScript(shell, [...others, command]));
      return exitCodes.ok;
    },
  };
  return command;
}

function isShell(name: string): name is Shell {
  return (shells as readonly string[]).includes(name);
}
