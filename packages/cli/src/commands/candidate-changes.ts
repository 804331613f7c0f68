import {
  type Attempt,
  type Candidate,
  CandidateServiceCordonRequest,
  CandidateServiceSetPriorityRequest,
  CandidateServiceUncordonRequest,
  durationFromMs,
} from "@tenure/contracts";
import type { Tenure } from "@tenure/sdk";
import type { Command, Invocation, Positional } from "../command/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../exit-code.ts";
import { candidateKind, candidateNamed, readCandidate } from "../records/candidate.ts";
import { changeFlagsWith, makeChange, plainChangeFlags, reasonOf, requiredReason } from "./change.ts";

const positionals: readonly Positional[] = [{ name: "LEASE" }, { name: "CANDIDATE" }];

/** What every change of a candidate sends. */
interface Common {
  readonly attempt: Attempt;
  readonly candidate: ReturnType<typeof candidateNamed>;
  readonly expectedRevision: bigint;
  readonly dryRun: boolean;
}

/** What the answers have in common. */
interface Answer {
  readonly candidate: Candidate | undefined;
}

/** Changes one candidate as the user saw it; another change in between is a conflict. */
async function changeCandidate(
  invocation: Invocation,
  what: string,
  send: (tenure: Tenure, common: (attempt: Attempt) => Common) => Promise<Answer>,
): Promise<number> {
  const tenure = await invocation.connect();
  const candidate = candidateNamed(invocation);
  const present = await readCandidate(tenure, candidate);
  return await makeChange(invocation, {
    kind: candidateKind,
    present,
    what,
    async apply(dryRun) {
      const expectedRevision = present.revision;
      const answer = await send(tenure, (attempt) => ({ attempt, candidate, expectedRevision, dryRun }));
      if (answer.candidate !== undefined) return answer.candidate;
      throw new CommandFailure(exitCodes.error, "the service answered without the record");
    },
  });
}

/** `priority set`, `priority clear`, `cordon`, `uncordon`. */
export const candidateChanges: readonly Command[] = [
  {
    path: ["priority", "set"],
    summary: "Give a candidate a priority",
    details: "The higher leads, before any version, whatever the strategy. With --ttl it goes away by itself.",
    positionals: [...positionals, { name: "VALUE" }],
    flags: [
      { name: "ttl", value: "DURATION", summary: "how long it counts; for ever unless given" },
      ...changeFlagsWith("why; shown with the candidate while the priority lasts"),
    ],
    examples: [["tenure priority set billing/scheduler node-2 100 --ttl 2h --reason 'maintenance'", "for two hours"]],
    run(invocation) {
      const value = Number(invocation.positionals[2]);
      if (!Number.isSafeInteger(value) || value < 1) throw usageFailure("VALUE must be a whole number above 0");
      const ttlMs = invocation.values.durationMs("ttl");
      const { reason } = reasonOf(invocation);
      const priority = { value, reason, ...(ttlMs === undefined ? {} : { expiresAfter: durationFromMs(ttlMs) }) };
      const what = `give ${invocation.positionals[1]} the priority ${value}`;
      return changeCandidate(invocation, what, (tenure, common) =>
        tenure.session.change("CandidateService.SetPriority", (attempt) =>
          CandidateServiceSetPriorityRequest.fromPartial({ ...common(attempt), priority }),
        ),
      );
    },
  },
  {
    path: ["priority", "clear"],
    summary: "Take a candidate's priority away",
    positionals,
    flags: plainChangeFlags,
    examples: [["tenure priority clear billing/scheduler node-2", "back to its versions"]],
    run: (invocation) =>
      changeCandidate(invocation, `take the priority of ${invocation.positionals[1]} away`, (tenure, common) =>
        tenure.session.change("CandidateService.SetPriority", (attempt) =>
          CandidateServiceSetPriorityRequest.fromPartial(common(attempt)),
        ),
      ),
  },
  {
    path: ["cordon"],
    summary: "Keep a candidate from being elected; a running term goes on",
    positionals,
    flags: [
      { name: "ttl", value: "DURATION", summary: "how long; until uncordon unless given" },
      ...changeFlagsWith("required: why; shown with the candidate while the cordon lasts"),
    ],
    examples: [["tenure cordon billing/scheduler node-2 --reason 'disk is being replaced'", "until uncordon"]],
    run(invocation) {
      const note = requiredReason(invocation);
      const ttlMs = invocation.values.durationMs("ttl");
      const expiry = ttlMs === undefined ? {} : { expiresAfter: durationFromMs(ttlMs) };
      return changeCandidate(invocation, `cordon ${invocation.positionals[1]}`, (tenure, common) =>
        tenure.session.change("CandidateService.Cordon", (attempt) =>
          CandidateServiceCordonRequest.fromPartial({ ...common(attempt), note, ...expiry }),
        ),
      );
    },
  },
  {
    path: ["uncordon"],
    summary: "Let a candidate be elected again",
    positionals,
    flags: changeFlagsWith("why; goes into the store's log with the change, and is shown nowhere"),
    examples: [["tenure uncordon billing/scheduler node-2", "lifts the cordon; no error if there is none"]],
    run: (invocation) =>
      changeCandidate(invocation, `uncordon ${invocation.positionals[1]}`, (tenure, common) =>
        tenure.session.change("CandidateService.Uncordon", (attempt) =>
          CandidateServiceUncordonRequest.fromPartial({ ...common(attempt), note: reasonOf(invocation) }),
        ),
      ),
  },
];
