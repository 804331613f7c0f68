import { describe, expect, it } from "vitest";
import type { ProgramEnd } from "./guarded-program.ts";
import { outcomeOf } from "./outcome.ts";
import type { JobResult } from "./run-under-term.ts";

const ended = (code: number | null, signal: NodeJS.Signals | null = null): ProgramEnd => ({
  kind: "ended",
  code,
  signal,
});
const lost: JobResult["termEnd"] = { kind: "expired", note: "" };
const successor: JobResult["termEnd"] = { kind: "end-of-term", successor: "b", note: "" };
const stopped: JobResult["termEnd"] = { kind: "stopped" };

describe("how a run ends", () => {
  it.each([
    ["a program that is done", ended(0), undefined, {}, 0],
    ["a program that failed", ended(7), undefined, {}, 1],
    ["its own code on request", ended(7), undefined, { passExitCode: true }, 7],
    ["its signal as a code on request", ended(null, "SIGTERM"), undefined, { passExitCode: true }, 143],
    ["a lost term, whatever the program's code", ended(0), lost, { passExitCode: true }, 20],
    ["an end of term for another", ended(0), successor, {}, 20],
    ["a stop on request that the program ended well", ended(0), stopped, { requested: "SIGTERM" }, 0],
    ["a stop on request that it did not", ended(null, "SIGTERM"), stopped, { requested: "SIGINT" }, "SIGINT"],
    ["a program that could not start", { kind: "not-started", why: "no" }, undefined, {}, 1],
    ["a term that was over before it could start", { kind: "too-late" }, undefined, {}, 20],
    ["a watchdog that died", { kind: "unwatched" }, undefined, {}, 20],
  ] as const)("%s", (_name, end, termEnd, options, expected) => {
    const all = { passExitCode: false, requested: undefined, ...options };
    expect(outcomeOf({ end, termEnd }, all, () => undefined)).toBe(expected);
  });
});
