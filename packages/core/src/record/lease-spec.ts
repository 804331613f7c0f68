import type { HoldMode } from "./hold.ts";
import type { ConsensusRule } from "./strategy.ts";

/** Names and values that people and selectors use. */
export type Labels = Readonly<Record<string, string>>;

/** What clients may set on a lease. Edits apply from the next term on. */
export interface LeaseSpec {
  /** L for terms whose holder gives none. */
  readonly leaseDurationMs: number;
  /** How long nothing is granted after a term that ended without its holder's release. */
  readonly lockDelayMs: number;
  /** `counted` makes a semaphore of `capacity` units; otherwise shared and exclusive claims exclude each other. */
  readonly mode: HoldMode;
  /** Units that counted holds share; 1 for other modes. */
  readonly capacity: number;
  /** How long a term marked to end goes on being renewed. */
  readonly drainBoundMs: number;
  /** A coordinator may not end a term for a better candidate before it is this old. */
  readonly minimumTermMs: number;
  /** A candidate that lost or missed its term is not elected for this long. */
  readonly coolDownMs: number;
  /** How long claimants wait for a coordinator before they may claim themselves; undefined: never. */
  readonly fallbackDelayMs: number | undefined;
  readonly consensusRule: ConsensusRule;
  /** Zones in order of preference. */
  readonly zonePreference: readonly string[];
  readonly labels: Labels;
  readonly annotations: Labels;
}

/** The defaults of `safety.md` section 2 and of rule 20. One frozen object, shared by every lease that sets nothing. */
export const defaultLeaseSpec: LeaseSpec = Object.freeze({
  leaseDurationMs: 15_000,
  lockDelayMs: 0,
  mode: "exclusive",
  capacity: 1,
  drainBoundMs: 30_000,
  minimumTermMs: 0,
  coolDownMs: 0,
  fallbackDelayMs: undefined,
  consensusRule: "precedence",
  zonePreference: Object.freeze([]),
  labels: Object.freeze({}),
  annotations: Object.freeze({}),
} satisfies LeaseSpec);

/** Most specs that are kept to be shared; beyond it the table starts anew, which only costs memory. */
const maximumSpecs = 1_000;
const specs = new Map<string, LeaseSpec>();

/** The copy of a spec that records share: a deployment has few kinds of leases and many leases. */
export function shareSpec(spec: LeaseSpec): LeaseSpec {
  if (spec === defaultLeaseSpec) return spec;
  const text = textOf(spec);
  const known = specs.get(text);
  if (known !== undefined) return known;
  if (specs.size >= maximumSpecs) specs.clear();
  specs.set(text, spec);
  return spec;
}

/** The same for equal specs, and different for others. */
function textOf(spec: LeaseSpec): string {
  const { annotations, labels, zonePreference } = spec;
  const numbers = `${spec.leaseDurationMs} ${spec.lockDelayMs} ${spec.capacity} ${spec.drainBoundMs} ${spec.minimumTermMs}`;
  const words = `${spec.coolDownMs} ${spec.fallbackDelayMs} ${spec.mode} ${spec.consensusRule}`;
  return `${numbers} ${words} ${JSON.stringify([zonePreference, labels, annotations])}`;
}
