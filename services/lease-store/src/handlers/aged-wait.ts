import { durationFromMs } from "@tenure/contracts";
import type { Command } from "@tenure/core";

/** A command and the request that it was made of. */
export interface Sending<Request> {
  readonly command: Command;
  readonly request: Request;
}

/**
 * A claim that is sent again after a while keeps about its place in the queue (rule 10), and waits no longer in all than
 * it asked for. Everything else is sent as it was.
 */
export function agedWait<Request>(command: Command, request: Request, passedMs: number): Sending<Request> {
  if (command.kind !== "acquire" || command.wait === undefined || passedMs < 1) return { command, request };
  // Durations of the API are in whole milliseconds.
  const ageMs = Math.floor(command.wait.ageMs + passedMs);
  const { timeoutMs: wholeMs } = command.wait;
  const timeoutMs = wholeMs === undefined ? undefined : Math.max(1, Math.ceil(wholeMs - passedMs));
  const { wait } = request as { readonly wait: object };
  const timeout = timeoutMs === undefined ? undefined : durationFromMs(timeoutMs);
  return {
    command: { ...command, wait: { ...command.wait, ageMs, timeoutMs } },
    request: { ...request, wait: { ...wait, age: durationFromMs(ageMs), timeout } },
  };
}
