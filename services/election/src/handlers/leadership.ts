import { type Leadership, LeadershipState, leaseKeyToWire, leaseToWire, timestampFromMs } from "@tenure/contracts";
import { type LeaseKey, type LeaseRecord, type Position, partitionOf } from "@tenure/core";

/** Who leads a lease; nobody does if nothing is kept under its name. */
export function leadershipOf(
  lease: LeaseKey,
  record: LeaseRecord | undefined,
  partitions: number,
  now: number,
): Leadership {
  const key = leaseKeyToWire(lease);
  if (record === undefined) {
    return {
      lease: key,
      state: LeadershipState.VACANT,
      hold: undefined,
      successor: "",
      lastEndReason: 0,
      since: undefined,
      revision: 0n,
    };
  }
  const { endOfTerm, holds, lastEndReason, pending, revision } = leaseToWire(record, {
    partition: partitionOf(lease, partitions),
    now,
  });
  const [hold] = holds;
  const isEnding = hold !== undefined && endOfTerm?.token === hold.token;
  const vacant = { state: LeadershipState.VACANT, successor: pending?.candidate ?? record.preferredHolder };
  const ending = { state: LeadershipState.ENDING, successor: endOfTerm?.preferredHolder ?? "" };
  const led = { state: LeadershipState.LED, successor: "" };
  return {
    lease: key,
    ...(hold === undefined ? vacant : isEnding ? ending : led),
    hold,
    lastEndReason: hold === undefined ? lastEndReason : 0,
    since: timestampFromMs(sinceOf(record, isEnding).wallMs),
    revision,
  };
}

function sinceOf({ endOfTerm, freeSince, holds }: LeaseRecord, isEnding: boolean): Position {
  const [hold] = holds;
  if (hold === undefined) return freeSince;
  return isEnding ? (endOfTerm?.marked ?? hold.granted) : hold.granted;
}

/** Whether an observer would see the same. */
export function isSameLeadership(left: Leadership, right: Leadership): boolean {
  return left.state === right.state && left.hold?.token === right.hold?.token && left.successor === right.successor;
}
