import type { StoredLease, TransitionDetails } from "@tenure/core";
import type { SnapshotTransition } from "../../gen/tenure/log/v1/snapshot_record.ts";
import { HoldOrigin, TermEndReason } from "../../gen/tenure/v1/hold.ts";
import type { Reading } from "../reading.ts";
import { causeToWire } from "../value/cause.ts";
import { holdOrigins, termEndReasons, transitionKinds, wordOf } from "../value/enums.ts";
import { participantFromWire, participantToWire } from "../value/participant.ts";
import { shareText } from "../value/text.ts";

type StoredLine = StoredLease["history"][number];
type Cause = NonNullable<StoredLine["cause"]>;

/** One line of history in a snapshot. */
export function lineToWire(line: StoredLine): SnapshotTransition {
  const { details } = line;
  const { endReason, origin } = causeToWire(line);
  return {
    position: line.position + 1,
    kind: transitionKinds.toWire[line.kind],
    holder: line.holder,
    token: line.token,
    author: line.author,
    origin,
    endReason,
    heldForMs: details?.heldForMs,
    successor: details?.successor ?? "",
    reason: details?.reason ?? "",
    decisionId: details?.decisionId ?? "",
    participant: participantToWire(details?.participant),
  };
}

/** One line of history. `holder` is the holder's text as the lease's other records have it. */
export function lineFromWire(reading: Reading, line: SnapshotTransition, holder: string): StoredLine {
  return {
    position: line.position - 1,
    kind: wordOf(reading, "history.kind", transitionKinds, line.kind),
    holder: line.holder === holder ? holder : line.holder,
    token: line.token,
    author: shareText(line.author),
    cause: causeFromWire(reading, line),
    details: detailsFromWire(line),
  };
}

function causeFromWire(reading: Reading, { endReason, origin }: SnapshotTransition): Cause | undefined {
  if (origin !== HoldOrigin.UNSPECIFIED) return wordOf(reading, "history.origin", holdOrigins, origin);
  if (endReason === TermEndReason.UNSPECIFIED) return undefined;
  return wordOf(reading, "history.end_reason", termEndReasons, endReason);
}

function detailsFromWire(line: SnapshotTransition): TransitionDetails | undefined {
  const { decisionId, heldForMs, participant, reason, successor } = line;
  const isPlain = heldForMs === undefined && successor === "" && reason === "" && decisionId === "";
  if (isPlain && participant === undefined) return undefined;
  return {
    ...(heldForMs === undefined ? undefined : { heldForMs }),
    ...(successor === "" ? undefined : { successor }),
    ...(reason === "" ? undefined : { reason }),
    ...(decisionId === "" ? undefined : { decisionId }),
    ...(participant === undefined ? undefined : { participant: participantFromWire(participant) }),
  };
}
