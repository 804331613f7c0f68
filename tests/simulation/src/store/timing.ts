import {
  defaultSettings,
  type ElectionTiming,
  type OwnershipTiming,
  type Settings,
  type Timing,
  testTimingPolicy,
} from "@tenure/core";

/**
 * As tight as inequality (1) allows: 850 ms ≥ 1.1 × (600 ms / 0.9 + 100 ms) = 843.3 ms. A mistake of a hundredth of a
 * second is a mistake that shows.
 */
export const timing: Timing = {
  leaseDurationMs: 850,
  usableTermMs: 600,
  renewIntervalMs: 200,
  requestTimeoutMs: 100,
};

/** For leases with a lock delay of 250 ms, which they need: L alone would not keep two holders apart. */
export const delayedTiming: Timing = { ...timing, leaseDurationMs: 600 };

/** σ of the simulated deployment. */
export const { stopBoundMs, rateError } = testTimingPolicy;

/** What every simulated partition decides by. */
export const settings: Settings = {
  ...defaultSettings,
  policy: testTimingPolicy,
  timing,
  acceptWindowMs: timing.requestTimeoutMs,
};

/** Partitions change hands quickly, so that a short run sees many owners. */
export const ownershipTiming: OwnershipTiming = {
  beatIntervalMs: 100,
  silenceMs: 400,
  staggerMs: 100,
  settleMs: 1_000,
  handOverSpacingMs: 200,
  backoffFirstMs: 100,
  backoffLimitMs: 800,
  calmMs: 3_000,
};

/**
 * Within this after everything has healed, whatever somebody waits for must have moved (I26): a load with the longest
 * back-off, a takeover, a hand-over that evens out a second later, the pause after an outage (R + T + 1 s) on a slow
 * owner's clock, which counts anew for that one, and an election whose first choice does not accept.
 */
export const livenessBoundMs = 5_500;

/** Elections are quick, so that a short run sees many. */
export const electionTiming: ElectionTiming = {
  answerBoundMs: 300,
  liveBoundMs: 300,
  roundSlackMs: 150,
  firstReaskMs: 400,
  longestReaskMs: 800,
  actionLookMs: 100,
  longestLookMs: 2_000,
};

/** What the coordinators divide among each other, and how long a share outlives a silent one. */
export const shards = 2;
export const shardLeaseDurationMs = 2_000;
