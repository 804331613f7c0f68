export type { Command, Flag, Invocation, Positional } from "./command/command.ts";
export { commands } from "./commands.ts";
export { exitCodes } from "./exit-code.ts";
export type { Colour, Terminal } from "./output/terminal.ts";
export { runCommandLine, type Surroundings } from "./run-command-line.ts";
