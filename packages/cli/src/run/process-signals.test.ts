import { expect, it } from "vitest";
import { ProcessSignals } from "./process-signals.ts";

/** Tells every listener, as a signal of that name does. */
const send = (signal: NodeJS.Signals) => process.emit(signal, signal);

it("one request that arrives twice is one; the next is a second", () => {
  let nowMs = 5;
  using signals = new ProcessSignals(false, () => nowMs);
  send("SIGINT");
  send("SIGINT");
  nowMs += 999;
  send("SIGTERM");
  expect([signals.requested, signals.stop.aborted, signals.hurry.aborted]).toEqual(["SIGINT", true, false]);
  nowMs += 1;
  send("SIGTERM");
  expect([signals.requested, signals.hurry.aborted]).toEqual(["SIGINT", true]);
});

it.each([
  ["a program without a terminal gets it", false, true, ["SIGHUP"], undefined],
  ["a terminal that hangs up asks for the end", true, true, [], "SIGHUP"],
  ["without a program it asks for the end", false, false, [], "SIGHUP"],
])("SIGHUP: %s", (_name, hasTerminal, hasProgram, expected, requested) => {
  using signals = new ProcessSignals(hasTerminal);
  const passed: NodeJS.Signals[] = [];
  if (hasProgram) signals.onPassed = (signal) => passed.push(signal);
  send("SIGHUP");
  expect([passed, signals.requested]).toEqual([expected, requested]);
});
