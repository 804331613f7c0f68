/** The durations that decide when a partition changes hands, all in milliseconds. */
export interface OwnershipTiming {
  /** How often a replica's append loops beat. */
  readonly beatIntervalMs: number;
  /** How long both the owner's beat and the log must be silent before anyone takes over. */
  readonly silenceMs: number;
  /** How much longer the second, third, … in line wait, each than the one before. */
  readonly staggerMs: number;
  /** How long a replica must have been able to own before it is given partitions for the sake of balance. */
  readonly settleMs: number;
  /** The least time between two hand-overs by one replica, so that balance returns bit by bit. */
  readonly handOverSpacingMs: number;
  /** The wait after a replica's first takeover of a partition; it doubles with each further one. */
  readonly backoffFirstMs: number;
  /** The longest such wait. */
  readonly backoffLimitMs: number;
  /** A partition that a replica has not taken over for this long starts from the first wait again. */
  readonly calmMs: number;
}

/**
 * Five beats in a second: a replica that is killed is replaced in a little over one second, and one that loses a beat or
 * collects garbage for half a second is left alone. The rest is for calm: a replica that starts again every few seconds
 * never gets to own anything while others live.
 */
export const defaultOwnershipTiming: OwnershipTiming = {
  beatIntervalMs: 200,
  silenceMs: 1_000,
  staggerMs: 300,
  settleMs: 10_000,
  handOverSpacingMs: 500,
  backoffFirstMs: 250,
  backoffLimitMs: 8_000,
  calmMs: 30_000,
};
