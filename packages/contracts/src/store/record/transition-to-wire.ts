import type { Transition as CoreTransition } from "@tenure/core";
import type { Transition } from "../../gen/tenure/v1/transition.ts";
import { causeToWire } from "../value/cause.ts";
import { transitionKinds } from "../value/enums.ts";
import { participantToWire } from "../value/participant.ts";
import { optionalDurationToWire } from "../value/time.ts";
import { timeOf } from "./wall-time.ts";

/** One line of a lease's history as the API shows it. */
export function transitionToWire(line: CoreTransition): Transition {
  const { author, details, holder, kind, position, token } = line;
  const { endReason, origin } = causeToWire(line);
  return {
    revision: position.sequence,
    at: timeOf(position),
    kind: transitionKinds.toWire[kind],
    holder,
    token,
    origin,
    endReason,
    heldFor: optionalDurationToWire(details?.heldForMs),
    successor: details?.successor ?? "",
    author,
    reason: details?.reason ?? "",
    decisionId: details?.decisionId ?? "",
    participant: participantToWire(details?.participant),
  };
}
