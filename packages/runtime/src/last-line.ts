import { Fault, redactLogins } from "@tenure/kernel";
import { configInvalid, usageExitCode } from "./config/index.ts";

/** The exit code of a process that could not do what it was asked: 2 when the user's input is to blame, else 1. */
export function exitCodeOf(thrown: unknown): number {
  return thrown instanceof Fault && thrown.reason === configInvalid ? usageExitCode : 1;
}

/**
 * What a process says on standard error before it exits, without a stack: `tenure <service>: <message>`, one line, or
 * one for each problem of a configuration. Credentials in URLs are taken out.
 */
export function lastLines(service: string, thrown: unknown): readonly string[] {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const isList = thrown instanceof Fault && thrown.reason === configInvalid;
  const lines = isList ? message.split("\n") : [message.replaceAll(/\s*\n\s*/g, " ")];
  return lines.map((line) => `tenure ${service}: ${redactLogins(line)}`);
}
