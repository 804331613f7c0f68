import type { Timing } from "../timing.ts";
import type { Participant } from "./hold.ts";
import type { Labels } from "./lease-spec.ts";
import type { Position } from "./position.ts";
import type { Strategy } from "./strategy.ts";

/** How willing a candidate is. */
export type CandidatePreference = "preferred" | "neutral" | "lastResort" | "never";

/** What a candidate says about itself. */
export interface CandidateSpec {
  readonly binaryVersion: string;
  /** Empty if not given. */
  readonly compatibilityVersion: string;
  readonly strategy: Strategy;
  readonly labels: Labels;
  readonly zone: string;
  readonly preference: CandidatePreference;
  readonly isHealthy: boolean;
  readonly healthNote: string;
  /** How long the record counts without a renewal. */
  readonly validityMs: number;
  /** The identity record of its process; empty if it has none. */
  readonly identity: string;
  readonly participant?: Participant;
  readonly timing?: Timing;
}

/** How long a candidate counts without a renewal unless it says otherwise: six times the renewal interval of 5 min. */
export const defaultValidityMs = 1_800_000;

/** What a candidate says of itself that says nothing. */
export const defaultCandidateSpec: CandidateSpec = {
  binaryVersion: "",
  compatibilityVersion: "",
  strategy: { kind: "oldestCompatibilityVersion", expression: "", vendor: "" },
  labels: {},
  zone: "",
  preference: "neutral",
  isHealthy: true,
  healthNote: "",
  validityMs: defaultValidityMs,
  identity: "",
};

/** A priority, with who gave it and for how long. */
export interface Priority {
  readonly value: number;
  /** On the judging replica's clock, from when it saw the priority; undefined is for ever. */
  readonly expiresAfterMs: number | undefined;
  readonly author: string;
  readonly reason: string;
}

/** What keeps a candidate from being elected. A term that it holds goes on. */
export interface Cordon {
  readonly expiresAfterMs: number | undefined;
  readonly author: string;
  readonly reason: string;
}

/** A coordinator's question and what is known of the answer. The answer echoes the number: no clocks are compared. */
export interface Ping {
  number: bigint;
  answeredNumber: bigint;
  pinged: Position;
  answered: Position | undefined;
}

/** One who asks to hold a lease. Mutated only by `apply`. */
export interface CandidateRecord {
  readonly name: string;
  /** Fresh for every registration of the name. */
  readonly uid: number;
  /** Who registered it; only this principal may update, answer or withdraw. */
  readonly principal: string;
  readonly registered: Position;
  /** The last change other than a renewal or answer. */
  revision: Position;
  /** The last renewal or answer. Its validity runs from when this replica saw it. */
  renewal: Position;
  spec: CandidateSpec;
  priority: (Priority & { readonly set: Position }) | undefined;
  cordon: (Cordon & { readonly set: Position }) | undefined;
  ping: Ping | undefined;
  coolDown: { readonly from: Position; readonly coolDownMs: number } | undefined;
  /** Accepts missed in a row; doubles the back-off (rule 18). */
  missedAccepts: number;
}
