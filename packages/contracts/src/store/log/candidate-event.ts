import type { CandidateEvent, Cause } from "@tenure/core";
import type { CandidatePut } from "../../gen/tenure/log/v1/candidate_event.ts";
import { CandidateSpec } from "../../gen/tenure/v1/candidate_record.ts";
import type { Reading } from "../reading.ts";
import {
  candidateSpecFromWire,
  candidateSpecToWire,
  cordonFromWire,
  cordonToWire,
  priorityFromWire,
  priorityToWire,
} from "../value/candidate-spec.ts";
import { candidateRemovals, wordOf } from "../value/enums.ts";
import {
  candidateKeyFromWire,
  candidateKeyToWire,
  leaseKeyFromWire,
  leaseKeyToWire,
  uidFromWire,
  uidToWire,
} from "../value/key.ts";
import { shareText } from "../value/text.ts";
import { durationFromWire, durationToWire } from "../value/time.ts";
import type { WireEvent } from "./partition-event.ts";

type Of<K extends CandidateEvent["kind"]> = Extract<CandidateEvent, { readonly kind: K }>;

/** A fact about a candidate as the log has it. */
export function candidateEventToWire(event: CandidateEvent): WireEvent {
  if (event.kind === "candidatesPinged") {
    const { coordinator, lease, questions } = event;
    return { $case: "candidatesPinged", value: { lease: leaseKeyToWire(lease), questions, coordinator } };
  }
  const candidate = candidateKeyToWire(event.lease, event.candidate);
  switch (event.kind) {
    case "candidatePut": {
      const { cordon, principal, priority, spec, uid } = event;
      const value = {
        candidate,
        uid: uidToWire(uid),
        spec: candidateSpecToWire(spec),
        priority: priority && priorityToWire(priority),
        cordon: cordon && cordonToWire(cordon),
        principal,
      };
      return { $case: "candidatePut", value };
    }
    case "candidateRenewed":
      return { $case: "candidateRenewed", value: { candidate } };
    case "candidateAnswered":
      return { $case: "candidateAnswered", value: { candidate, pingNumber: event.pingNumber } };
    case "candidateRemoved":
      return { $case: "candidateRemoved", value: { candidate, removal: candidateRemovals.toWire[event.removal] } };
    case "candidateCooledDown": {
      const { coolDownMs, hasMissedAccept: missedAccept } = event;
      return { $case: "candidateCooledDown", value: { candidate, coolDown: durationToWire(coolDownMs), missedAccept } };
    }
  }
}

/** The kinds that {@link candidateEventFromWire} reads. */
export type WireCandidateEvent = Extract<
  WireEvent,
  {
    readonly $case:
      | "candidatePut"
      | "candidateRenewed"
      | "candidatesPinged"
      | "candidateAnswered"
      | "candidateRemoved"
      | "candidateCooledDown";
  }
>;

/** A fact about a candidate. */
export function candidateEventFromWire(
  reading: Reading,
  event: WireCandidateEvent,
  { author, reason }: Cause,
): CandidateEvent & Cause {
  if (event.$case === "candidatesPinged") {
    const { coordinator, questions } = event.value;
    const lease = leaseKeyFromWire(reading, "candidates_pinged.lease", event.value.lease);
    return { kind: "candidatesPinged", lease, questions, coordinator, author, reason };
  }
  const { candidate, lease } = candidateKeyFromWire(reading, event.$case, event.value.candidate);
  switch (event.$case) {
    case "candidatePut":
      return { ...putFromWire(reading, lease, candidate, event.value), author, reason };
    case "candidateRenewed":
      return { kind: "candidateRenewed", lease, candidate, author, reason };
    case "candidateAnswered":
      return { kind: "candidateAnswered", lease, candidate, pingNumber: event.value.pingNumber, author, reason };
    case "candidateRemoved": {
      const removal = wordOf(reading, "candidate_removed.removal", candidateRemovals, event.value.removal);
      return { kind: "candidateRemoved", lease, candidate, removal, author, reason };
    }
    case "candidateCooledDown": {
      const { coolDown, missedAccept: hasMissedAccept } = event.value;
      const coolDownMs = durationFromWire(reading, "candidate_cooled_down.cool_down", coolDown, 0);
      return { kind: "candidateCooledDown", lease, candidate, coolDownMs, hasMissedAccept, author, reason };
    }
  }
}

function putFromWire(reading: Reading, lease: string, candidate: string, put: CandidatePut): Of<"candidatePut"> {
  const { cordon, principal, priority, spec, uid } = put;
  if (spec === undefined) reading.reject("candidate_put.spec", "is required", "absent");
  return {
    kind: "candidatePut",
    lease,
    candidate,
    uid: uidFromWire(uid),
    principal: shareText(principal),
    spec: candidateSpecFromWire(reading, "candidate_put.spec", spec ?? CandidateSpec.create()),
    priority: priority && priorityFromWire(reading, "candidate_put.priority", priority),
    cordon: cordon && cordonFromWire(reading, "candidate_put.cordon", cordon),
  };
}
