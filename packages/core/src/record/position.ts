/** The sequence of a batch that has not been acknowledged yet. No stored record has it, so no expectation matches. */
export const openSequence = 0n;

/**
 * Where a batch stands in the log, and when this replica saw it. Every record that a batch touched points to the same
 * position, so a batch is committed by writing its sequence once, and a renewal is one pointer.
 */
export interface Position {
  /** The batch's stream sequence, which is the revision of all that it changed; {@link openSequence} until the ack. */
  sequence: bigint;
  /** The writer's wall clock in epoch ms. For people: no decision reads it. */
  readonly wallMs: number;
  /**
   * This replica's monotonic ms when the batch's last command reached it (owner), when it saw the batch (follower), or
   * when it loaded the snapshot. Every duration of a rule runs from here. Not replicated.
   */
  seenAtMs: number;
}

/** The position of everything that was before the first batch. */
export function originPosition(seenAtMs: number): Position {
  return { sequence: openSequence, wallMs: 0, seenAtMs };
}

/** Ms that have passed since this replica saw the position; never negative. */
export function elapsedMs(position: Position, now: number): number {
  return Math.max(0, now - position.seenAtMs);
}

/** Ms until `durationMs` have passed since this replica saw the position; 0 when they have. */
export function remainingMs(position: Position, durationMs: number, now: number): number {
  return Math.max(0, position.seenAtMs + durationMs - now);
}
