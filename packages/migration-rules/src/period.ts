import type { Participant, TermEndReason, Transition } from "@tenure/core";

/** A term of a lease, as its history tells it. Positions of the log say when, so no clock is trusted. */
export interface Period {
  readonly holder: string;
  readonly participant: Participant | undefined;
  readonly token: bigint;
  readonly from: Transition["position"];
  /** Undefined while it runs. */
  readonly to: Transition["position"] | undefined;
  readonly endReason: TermEndReason | undefined;
}

/** The terms that a lease's history keeps, oldest first. One whose begin was dropped is left out. */
export function periodsOf(history: readonly Transition[]): readonly Period[] {
  const periods = new Map<bigint, Period>();
  for (const { cause, details, holder, kind, position, token } of history) {
    const open = periods.get(token);
    if (kind === "granted") {
      const participant = details?.participant;
      periods.set(token, { holder, participant, token, from: position, to: undefined, endReason: undefined });
    } else if (kind === "ended" && open !== undefined) {
      periods.set(token, { ...open, to: position, endReason: cause as TermEndReason });
    }
  }
  return [...periods.values()];
}

/** The first two periods that overlap, or whose tokens do not grow with them; undefined if none do. */
export function overlapIn(periods: readonly Period[]): readonly [Period, Period] | undefined {
  for (const [index, later] of periods.entries()) {
    const earlier = periods[index - 1];
    if (earlier === undefined) continue;
    const isAfter = earlier.to !== undefined && earlier.to.sequence <= later.from.sequence;
    if (!isAfter || earlier.token >= later.token) return [earlier, later];
  }
  return undefined;
}
