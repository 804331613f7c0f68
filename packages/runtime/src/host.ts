import { readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { type Clock, type Random, systemClock, systemRandom } from "@tenure/kernel";
import type { DestinationStream } from "pino";
import type { Environment } from "./config/index.ts";
import { standardOutput } from "./logging/logger.ts";

/** The signals that ask a service to stop, with the exit code that a shell expects of a process that they ended. */
export const stopSignals = { SIGINT: 130, SIGTERM: 143 } as const;

/** One of the signals that ask a service to stop. */
export type StopSignal = keyof typeof stopSignals;

/** The process and the machine as the runtime sees them: all that a test replaces. */
export interface Host {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly environment: Environment;
  readonly hostname: string;
  readonly pid: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** The text of a file, or throws. */
  readFile(path: string): string;
  /** The permission bits of a file, or undefined where they cannot be read. */
  fileMode(path: string): number | undefined;
  /** Where log lines go. */
  logDestination(): DestinationStream;
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes one line to standard error. */
  complain(line: string): void;
  onSignal(listener: (signal: StopSignal) => void): void;
  /** Calls `listener` with an error that nobody caught or a rejection that nobody awaited. */
  onCrash(listener: (thrown: unknown) => void): void;
  exit(code: number): void;
}

/** The process that this code runs in. */
export function processHost(): Host {
  return {
    argv: process.argv.slice(2),
    environment: process.env,
    hostname: hostname(),
    pid: process.pid,
    clock: systemClock,
    random: systemRandom,
    isTerminal: process.stdout.isTTY === true,
    readFile: (path) => readFileSync(path, "utf8"),
    fileMode: (path) => statSync(path, { throwIfNoEntry: false })?.mode,
    logDestination: standardOutput,
    print: (text) => void process.stdout.write(text),
    complain: (line) => void process.stderr.write(`${line}\n`),
    onSignal(listener) {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => listener(signal));
    },
    onCrash(listener) {
      process.on("uncaughtException", listener);
      process.on("unhandledRejection", listener);
    },
    exit: (code) => process.exit(code),
  };
}
