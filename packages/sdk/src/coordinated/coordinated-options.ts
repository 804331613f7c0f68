import {
  CandidatePreference,
  CandidateSpec,
  durationFromMs,
  type Participant,
  Priority,
  strategyToWire,
} from "@tenure/contracts";
import { defaultValidityMs, strategyNamed } from "@tenure/core";
import { type DurationInput, optionError, toMs } from "../timing/duration-input.ts";
import type { TermTiming } from "../timing/term-timing.ts";

/** How a leader is chosen, as a candidate wishes it. A vendor's strategy is named `domain/name`. */
export type StrategyInput =
  | "OldestCompatibilityVersion"
  | "NewestCompatibilityVersion"
  | "Priority"
  | "NoCoordination"
  | `${string}/${string}`
  | { readonly expression: string };

/** What a candidate says of itself, so that a coordinator can choose the right one. */
export interface CoordinatedOptions {
  /** A strict semantic version, such as `1.21.0`. */
  readonly binaryVersion: string;
  /** What the process behaves as; at most the binary version, which it is unless given. */
  readonly compatibilityVersion?: string | undefined;
  /** The strategy that it wants. Default `OldestCompatibilityVersion`: the old version leads until the last old one goes. */
  readonly strategy?: StrategyInput | undefined;
  /** The higher leads, before any version. */
  readonly priority?: number | { readonly value: number; readonly expiresAfter?: DurationInput } | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Where it runs, compared with the lease's zone preference. */
  readonly zone?: string | undefined;
  readonly preference?: "preferred" | "neutral" | "last-resort" | "never" | undefined;
  /** How long the registration counts without a renewal, which is sent every sixth of it. Default 30 min. */
  readonly validity?: DurationInput | undefined;
  /**
   * Lets candidates claim a free lease themselves when no coordinator has acted for this long. Written when this client
   * is the first to name the lease; later the lease's own setting counts. Default: never.
   */
  readonly fallbackDelay?: DurationInput | undefined;
}

/** The options as they are sent. */
export interface PlannedCandidacy {
  readonly spec: CandidateSpec;
  readonly priority: Priority | undefined;
  readonly renewIntervalMs: number;
  readonly fallbackDelayMs: number | undefined;
}

/** Five minutes of the default half hour: several renewals may be lost before the registration does not count. */
const renewalsPerValidity = 6;

const preferences = {
  preferred: CandidatePreference.PREFERRED,
  neutral: CandidatePreference.NEUTRAL,
  "last-resort": CandidatePreference.LAST_RESORT,
  never: CandidatePreference.NEVER,
} as const;

/**
 * Checks what a client can check; the store checks the rest and lists every broken rule. A migration lock is given only
 * to a candidate that says, as a claimant does, which participant it is.
 */
export function planCandidacy(
  options: CoordinatedOptions,
  timing: TermTiming,
  participant: Participant | undefined,
): PlannedCandidacy {
  const { binaryVersion, fallbackDelay, labels = {}, zone = "" } = options;
  const validityMs = toMs(options.validity ?? defaultValidityMs, "coordinated.validity");
  const spec = CandidateSpec.fromPartial({
    binaryVersion,
    compatibilityVersion: options.compatibilityVersion ?? binaryVersion,
    strategy: strategyOf(options.strategy ?? "OldestCompatibilityVersion"),
    labels: { ...labels },
    zone,
    preference: preferences[options.preference ?? "neutral"],
    validity: durationFromMs(validityMs),
    ...(participant && { participant }),
    timing: {
      leaseDuration: durationFromMs(timing.leaseDurationMs),
      usableTerm: durationFromMs(timing.usableTermMs),
      renewInterval: durationFromMs(timing.renewIntervalMs),
      requestTimeout: durationFromMs(timing.requestTimeoutMs),
    },
  });
  return {
    spec,
    priority: priorityOf(options.priority),
    renewIntervalMs: validityMs / renewalsPerValidity,
    fallbackDelayMs: fallbackDelay === undefined ? undefined : toMs(fallbackDelay, "coordinated.fallbackDelay"),
  };
}

function strategyOf(input: StrategyInput) {
  if (typeof input === "object") {
    return strategyToWire({ kind: "expression", expression: input.expression, vendor: "" });
  }
  const strategy = strategyNamed(input);
  if (strategy === undefined)
    throw optionError("coordinated.strategy", "must be a known strategy or domain/name", input);
  return strategyToWire(strategy);
}

function priorityOf(input: CoordinatedOptions["priority"]): Priority | undefined {
  if (input === undefined) return undefined;
  const { expiresAfter, value } = typeof input === "number" ? { expiresAfter: undefined, value: input } : input;
  if (!Number.isSafeInteger(value) || value < 1) {
    throw optionError("coordinated.priority", "must be a whole number above 0", String(value));
  }
  const expiry =
    expiresAfter === undefined
      ? {}
      : { expiresAfter: durationFromMs(toMs(expiresAfter, "coordinated.priority.expiresAfter")) };
  return Priority.fromPartial({ value, ...expiry });
}
