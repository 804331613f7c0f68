import {
  type CandidateSpec as CoreCandidateSpec,
  type Hypothesis as CoreHypothesis,
  checkCandidateName,
  checkPriority,
  checkStrategy,
} from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import { durationToMs } from "../duration.ts";
import { CandidateHealth, type CandidateSpec } from "../gen/tenure/v1/candidate_record.ts";
import type { Hypothesis } from "../gen/tenure/v1/hypothesis.ts";
import { Reading } from "../store/reading.ts";
import { priorityFromWire } from "../store/value/candidate-spec.ts";
import { candidatePreferences, wordOf } from "../store/value/enums.ts";
import { participantFromWire } from "../store/value/participant.ts";
import { strategyFromWire } from "../store/value/strategy.ts";

/** As many as a dry run takes. */
const mostHypotheses = 64;

/** The hypotheses of a dry run, or the fault that lists every broken rule. */
export function hypothesesFromWire(hypotheses: readonly Hypothesis[]): readonly CoreHypothesis[] | Fault {
  const reading = new Reading();
  if (hypotheses.length < 1 || hypotheses.length > mostHypotheses) {
    reading.reject("hypotheses", `must have 1 to ${mostHypotheses} entries`, String(hypotheses.length));
  }
  const read = hypotheses
    .slice(0, mostHypotheses)
    .flatMap((hypothesis, place) => hypothesisFromWire(reading, `hypotheses[${place}]`, hypothesis) ?? []);
  return reading.refusal() ?? read;
}

function hypothesisFromWire(reading: Reading, field: string, { assumption }: Hypothesis): CoreHypothesis | undefined {
  switch (assumption?.$case) {
    case "candidateGone":
    case "candidateDrained":
    case "candidateUncordoned":
    case "candidateAnswers":
    case "candidateSilent": {
      const candidate = required(reading, `${field}.${fieldNames[assumption.$case]}`, assumption.value);
      return { kind: assumption.$case, candidate };
    }
    case "zoneGone":
      return { kind: "zoneGone", zone: required(reading, `${field}.zone_gone`, assumption.value) };
    case "holderGone":
      return { kind: "holderGone" };
    case "strategy": {
      const strategy = strategyFromWire(reading, `${field}.strategy`, assumption.value);
      reading.rejectAll(checkStrategy(strategy, `${field}.strategy`));
      return { kind: "strategy", strategy };
    }
    case "candidate":
      return assumedFromWire(reading, `${field}.candidate`, assumption.value);
    default:
      reading.reject(field, "must assume something that this version knows", "nothing");
      return undefined;
  }
}

/** As the API spells them. */
const fieldNames = {
  candidateGone: "candidate_gone",
  candidateDrained: "candidate_drained",
  candidateUncordoned: "candidate_uncordoned",
  candidateAnswers: "candidate_answers",
  candidateSilent: "candidate_silent",
} as const;

function required(reading: Reading, field: string, value: string): string {
  if (value === "") reading.reject(field, "is required", "absent");
  return value;
}

type Assumed = Extract<NonNullable<Hypothesis["assumption"]>, { readonly $case: "candidate" }>["value"];

function assumedFromWire(reading: Reading, field: string, assumed: Assumed): CoreHypothesis {
  const { name, priority, spec } = assumed;
  for (const { rule, value } of checkCandidateName(name)) reading.reject(`${field}.name`, rule, value);
  const given = priority && priorityFromWire(reading, `${field}.priority`, priority);
  if (given !== undefined) {
    for (const { rule, value } of checkPriority(given)) reading.reject(`${field}.priority`, rule, value);
  }
  return {
    kind: "candidate",
    candidate: name,
    spec: spec === undefined ? {} : givenFields(reading, `${field}.spec`, spec),
    ...(given === undefined ? undefined : { priority: given }),
  };
}

/** What a spec says; an empty field says nothing. */
function givenFields(reading: Reading, field: string, spec: CandidateSpec): Partial<CoreCandidateSpec> {
  const { binaryVersion, compatibilityVersion, health, identity, labels, participant, strategy, validity, zone } = spec;
  const isGiven = (text: string) => text !== "";
  return {
    ...(isGiven(binaryVersion) ? { binaryVersion } : undefined),
    ...(isGiven(compatibilityVersion) ? { compatibilityVersion } : undefined),
    ...(strategy === undefined ? undefined : { strategy: strategyFromWire(reading, `${field}.strategy`, strategy) }),
    ...(Object.keys(labels).length === 0 ? undefined : { labels }),
    ...(isGiven(zone) ? { zone } : undefined),
    ...(spec.preference === 0
      ? undefined
      : { preference: wordOf(reading, `${field}.preference`, candidatePreferences, spec.preference) }),
    ...(health === CandidateHealth.UNSPECIFIED ? undefined : { isHealthy: health !== CandidateHealth.UNHEALTHY }),
    ...(validity === undefined ? undefined : { validityMs: durationToMs(validity) }),
    ...(isGiven(identity) ? { identity } : undefined),
    ...(participant === undefined ? undefined : { participant: participantFromWire(participant) }),
  };
}
