import type { LeaseRecord } from "@tenure/core";
import { LeaseState } from "../../gen/tenure/v1/lease_record.ts";
import type { Reading } from "../reading.ts";
import { leaseStateToWire } from "../record/lease-to-wire.ts";

const known: ReadonlySet<number> = new Set(Object.values(LeaseState));

/** Rejects states that this version does not know: it could not show what is in them. */
export function checkStates(reading: Reading, states: readonly LeaseState[]): void {
  for (const [place, state] of states.entries()) {
    if (known.has(state)) continue;
    reading.reject(`states[${place}]`, "must be a value that this version knows", String(state));
  }
}

/** Whether a list shows a record: it exists, and is in one of the states; no states are all but tombstones. */
export function stateFilter(states: readonly LeaseState[]): (record: LeaseRecord, now: number) => boolean {
  const wanted = new Set<LeaseState>(states);
  return (record, now) => {
    if (record.created === undefined) return false;
    const state = leaseStateToWire(record, now);
    return wanted.size === 0 ? state !== LeaseState.TOMBSTONE : wanted.has(state);
  };
}
