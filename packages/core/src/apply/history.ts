import type { Cause } from "../partition/event.ts";
import { intern, type PartitionState } from "../partition/state.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Position } from "../record/position.ts";
import type { Transition, TransitionDetails, TransitionKind } from "../record/transition.ts";

/** What a line says beyond its kind, its author and where it stands. */
export interface Line {
  readonly holder?: string;
  readonly token?: bigint;
  readonly cause?: NonNullable<Transition["cause"]>;
  readonly details?: TransitionDetails | undefined;
}

const bare: Line = Object.freeze({});

/** Adds a line to a lease's history and drops the oldest beyond the bound. */
export function writeLine(
  state: PartitionState,
  record: LeaseRecord,
  position: Position,
  kind: TransitionKind,
  { author, reason }: Cause,
  { holder = "", token = 0n, cause, details: given }: Line = bare,
): void {
  const details = reason === "" ? given : { ...given, reason };
  const line = { position, kind, holder, token, author: intern(state, author), cause, details };
  record.addLine(line, state.settings.retention.historyPerLease);
}
