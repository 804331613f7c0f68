import {
  type CommandOf,
  type CandidateSpec as CoreCandidateSpec,
  type Priority as CorePriority,
  checkCandidateSpec,
  checkPriority,
} from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type {
  CandidateServiceAckRequest,
  CandidateServiceCordonRequest,
  CandidateServiceRegisterRequest,
  CandidateServiceSetPriorityRequest,
  CandidateServiceUncordonRequest,
  CandidateServiceUpdateRequest,
  CandidateServiceWithdrawRequest,
} from "../../gen/tenure/v1/candidate.ts";
import { CandidateSpec, type Priority } from "../../gen/tenure/v1/candidate_record.ts";
import { Reading } from "../reading.ts";
import { candidateSpecFields, candidateSpecFromWire } from "../value/candidate-spec.ts";
import { candidateKeyFromWire } from "../value/key.ts";
import { durationFromWire, periodFromWire } from "../value/time.ts";
import { checkDurations, checkIdentityName, checkParticipant } from "./claimant-rules.ts";
import { maskedFields } from "./field-mask.ts";
import { type Asked, addHeader, type Draft, requireCount, requireReason } from "./header.ts";
import { checkLabelKeys } from "./label-keys.ts";
import { requestCandidate } from "./request-key.ts";

const mostAnswers = 1_000;

/** CandidateService.Register as a command. A priority's reason stands in the priority. */
export function registerCandidateCommand(
  request: CandidateServiceRegisterRequest,
  principal: string,
): CommandOf<"registerCandidate"> | Fault {
  const reading = new Reading();
  const { candidate, lease } = requestCandidate(reading, "candidate", request.candidate);
  const spec = readWholeSpec(reading, request.spec);
  const command: Draft<CommandOf<"registerCandidate">> = {
    kind: "registerCandidate",
    lease,
    candidate,
    spec,
    principal,
  };
  const { priority } = request;
  if (priority !== undefined) command.priority = readPriority(reading, priority);
  addHeader(reading, command, withReason(request, priority?.reason));
  return reading.refusal() ?? command;
}

function readWholeSpec(reading: Reading, given: CandidateSpec | undefined) {
  if (given === undefined) reading.reject("spec", "is required", "absent");
  const spec = candidateSpecFromWire(reading, "spec", given ?? CandidateSpec.create());
  if (given !== undefined) checkSpecTexts(reading, given, spec);
  reading.rejectAll(checkCandidateSpec(spec));
  return spec;
}

/** What core does not judge: names that others look up, and durations on their own. */
function checkSpecTexts(reading: Reading, { identity, participant }: CandidateSpec, spec: CoreCandidateSpec): void {
  checkLabelKeys(reading, "spec.labels", spec.labels);
  checkIdentityName(reading, "spec.identity", identity);
  if (participant !== undefined) checkParticipant(reading, "spec.participant", participant);
  if (spec.timing !== undefined) checkDurations(reading, "spec.timing", spec.timing);
}

function readPriority(reading: Reading, priority: Priority): Pick<CorePriority, "value" | "expiresAfterMs"> {
  const expiresAfterMs = durationFromWire(reading, "priority.expires_after", priority.expiresAfter, undefined);
  const made = { value: priority.value, expiresAfterMs };
  reading.rejectAll(checkPriority(made));
  return made;
}

function withReason(request: Asked, reason: string | undefined): Asked {
  const { attempt, dryRun = false } = request;
  return {
    attempt,
    dryRun,
    note: reason === undefined ? undefined : { reason },
    reasonField: "priority.reason",
  };
}

/** CandidateService.Update as a command. */
export function updateCandidateCommand(
  request: CandidateServiceUpdateRequest,
  principal: string,
): CommandOf<"updateCandidate"> | Fault {
  const reading = new Reading();
  const { expectedRevision, updateMask } = request;
  const { candidate, lease } = requestCandidate(reading, "candidate", request.candidate);
  const spec = readSpecFields(reading, request.spec, updateMask ?? []);
  const command: Draft<CommandOf<"updateCandidate">> = {
    kind: "updateCandidate",
    lease,
    candidate,
    expectedRevision,
    spec,
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

function readSpecFields(reading: Reading, given: CandidateSpec | undefined, paths: readonly string[]) {
  if (paths.length === 0) return readWholeSpec(reading, given);
  if (given === undefined) reading.reject("spec", "is required", "absent");
  // What the mask leaves out is not looked at; above all, a missing strategy is no error then.
  const looked = new Reading();
  const whole = candidateSpecFromWire(looked, "spec", given ?? CandidateSpec.create());
  const isNamed = (field: string) => paths.some((path) => `${field}.`.startsWith(`spec.${path}.`));
  if (given !== undefined) checkSpecTexts(looked, given, whole);
  reading.rejectAll(looked.violations.filter(({ field }) => isNamed(field)));
  return maskedFields(reading, candidateSpecFields, paths, whole);
}

/** CandidateService.Ack as a command. Its leases may be of several partitions: the caller sorts them. */
export function ackCandidatesCommand(
  request: CandidateServiceAckRequest,
  principal: string,
): CommandOf<"ackCandidates"> | Fault {
  const reading = new Reading();
  requireCount(reading, "answers", request.answers, 1, mostAnswers);
  const answers = request.answers.map(({ candidate: key, pingNumber }, place) => {
    const { candidate, lease } = candidateKeyFromWire(reading, `answers[${place}].candidate`, key);
    return { lease, candidate, pingNumber };
  });
  return reading.refusal() ?? { kind: "ackCandidates", answers, principal };
}

/** CandidateService.Withdraw as a command. */
export function withdrawCandidateCommand(
  request: CandidateServiceWithdrawRequest,
  principal: string,
): CommandOf<"withdrawCandidate"> | Fault {
  const reading = new Reading();
  const { candidate, lease } = requestCandidate(reading, "candidate", request.candidate);
  const { expectedRevision } = request;
  const command: Draft<CommandOf<"withdrawCandidate">> = {
    kind: "withdrawCandidate",
    lease,
    candidate,
    expectedRevision,
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** CandidateService.SetPriority as a command. */
export function setPriorityCommand(
  request: CandidateServiceSetPriorityRequest,
  principal: string,
): CommandOf<"setPriority"> | Fault {
  const reading = new Reading();
  const { candidate, lease } = requestCandidate(reading, "candidate", request.candidate);
  const { expectedRevision } = request;
  const priority = request.priority && readPriority(reading, request.priority);
  const command: Draft<CommandOf<"setPriority">> = {
    kind: "setPriority",
    lease,
    candidate,
    expectedRevision,
    priority,
    principal,
  };
  addHeader(reading, command, withReason(request, request.priority?.reason));
  return reading.refusal() ?? command;
}

/** CandidateService.Cordon as a command. */
export function cordonCommand(
  request: CandidateServiceCordonRequest,
  principal: string,
): CommandOf<"setCordon"> | Fault {
  const reading = new Reading();
  requireReason(reading, request.note);
  const expiresAfterMs = periodFromWire(reading, "expires_after", request.expiresAfter, undefined);
  return cordoning(reading, request, principal, { expiresAfterMs });
}

/** CandidateService.Uncordon as a command. */
export function uncordonCommand(
  request: CandidateServiceUncordonRequest,
  principal: string,
): CommandOf<"setCordon"> | Fault {
  return cordoning(new Reading(), request, principal, undefined);
}

function cordoning(
  reading: Reading,
  request: CandidateServiceCordonRequest | CandidateServiceUncordonRequest,
  principal: string,
  cordon: CommandOf<"setCordon">["cordon"],
): CommandOf<"setCordon"> | Fault {
  const { candidate, lease } = requestCandidate(reading, "candidate", request.candidate);
  const { expectedRevision } = request;
  const command: Draft<CommandOf<"setCordon">> = {
    kind: "setCordon",
    lease,
    candidate,
    expectedRevision,
    cordon,
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}
