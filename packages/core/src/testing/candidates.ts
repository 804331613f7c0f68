import type { CommandOf } from "../partition/command.ts";
import type { Reply } from "../partition/reply.ts";
import { type CandidateSpec, defaultCandidateSpec } from "../record/candidate.ts";
import type { Desk } from "./desk.ts";

/** A legal candidate, changed by what a test cares about. */
export function candidateSpec(more: Partial<CandidateSpec> = {}): CandidateSpec {
  return { ...defaultCandidateSpec, binaryVersion: "1.20.0", compatibilityVersion: "1.20.0", ...more };
}

/** Registers a candidate under a principal of its own name. */
export function register(
  desk: Desk,
  lease: string,
  candidate: string,
  more: Partial<CandidateSpec> = {},
  priority?: CommandOf<"registerCandidate">["priority"],
): Reply {
  const spec = candidateSpec(more);
  return desk.run({ kind: "registerCandidate", lease, candidate, spec, ...(priority && { priority }) }, candidate);
}
