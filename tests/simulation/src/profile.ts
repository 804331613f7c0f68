import { defaultLeaseSpec, hash32, type LeaseSpec, type Timing } from "@tenure/core";
import type { Incident } from "./schedule.ts";
import { delayedTiming, timing } from "./store/timing.ts";

/** One lease of a world and how it is used there. */
export interface LeasePlan {
  readonly key: string;
  /** `readWrite` is claimed alone by some and together by others. */
  readonly use: "exclusive" | "readWrite" | "counted" | "elected";
  /** What a claim gives when it creates the lease. */
  readonly spec: LeaseSpec;
  readonly timing: Timing;
  /** Leases of one group share a partition and are sometimes claimed together. */
  readonly group: string;
}

/** What one kind of world is about. Each has its own mixture, so that none has to have everything. */
export interface Profile {
  readonly name: string;
  /** The leases, given how many the schedule draws. */
  readonly leases: (count: number) => readonly LeasePlan[];
  /** Holders beyond this many are left out. */
  readonly mostHolders: number;
  readonly candidates: number;
  readonly coordinators: number;
  /** Gateways that read the log for watchers, beside the replicas. */
  readonly gateways: number;
  readonly watchers: number;
  /** Whether the operator also marks terms to end, and tries what only a holder may do. */
  readonly isMeddling: boolean;
  /** Incidents beside the usual ones; what is here twice comes twice as often. */
  readonly incidents: readonly Incident["kind"][];
  /** Whether the log loses its end in the course of the run. */
  readonly losesLog: boolean;
}

const quiet = {
  mostHolders: 4,
  candidates: 0,
  coordinators: 0,
  gateways: 0,
  watchers: 0,
  isMeddling: false,
  incidents: [],
  losesLog: false,
} as const;

/** How long a term marked to end goes on being renewed: shorter than a term, so that the bound is met. */
const drainBoundMs = 300;
const shortSpec: LeaseSpec = { ...defaultLeaseSpec, drainBoundMs };

function plan(key: string, use: LeasePlan["use"], more: Partial<LeasePlan> = {}): LeasePlan {
  return { key, use, spec: shortSpec, timing, group: "", ...more };
}

function numbered(count: number, make: (index: number) => LeasePlan): readonly LeasePlan[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

const plain: Profile = {
  ...quiet,
  name: "plain",
  watchers: 1,
  leases: (count) => numbered(count, (index) => plan(`world/lease-${index}`, "exclusive", { spec: defaultLeaseSpec })),
};

const delayedSpec: LeaseSpec = { ...shortSpec, lockDelayMs: 250 };

/** Holds of every mode, several leases at once, and lock delays that the deadlines need. */
const modes: Profile = {
  ...quiet,
  name: "modes",
  isMeddling: true,
  leases: () => [
    plan("world/pair:1", "exclusive", { group: "pair" }),
    plan("world/pair:2", "exclusive", { group: "pair", spec: delayedSpec, timing: delayedTiming }),
    plan("world/pair:3", "readWrite", { group: "pair" }),
    plan("world/shelf", "readWrite"),
    plan("world/pool", "counted", { spec: { ...shortSpec, mode: "counted", capacity: 3 } }),
  ],
};

/** Many who watch, of replicas and gateways that come and go. */
const watches: Profile = {
  ...modes,
  name: "watches",
  gateways: 2,
  watchers: 5,
  incidents: ["cutLog", "cutLog", "crash", "crash", "compact", "pause"],
};

/** Leases whose holders are elected, beside one that is not. */
const elections: Profile = {
  ...quiet,
  name: "elections",
  mostHolders: 2,
  candidates: 3,
  coordinators: 2,
  gateways: 1,
  watchers: 1,
  isMeddling: true,
  leases: (count) => [
    plan("world/lease-1", "exclusive"),
    ...numbered(Math.min(count, 2), (index) => plan(`world/elected-${index}`, "elected")),
  ],
};

/** A store that comes and goes while holders do: nobody who could not renew may lose a term by it (rule 17). */
const outages: Profile = {
  ...quiet,
  name: "outages",
  leases: (count) => numbered(count, (index) => plan(`world/lease-${index}`, "exclusive")),
  incidents: ["cutLog", "cutLog", "cutLog", "cutLog", "cutLog", "cutLog", "failOver", "failOver", "crash", "isolate"],
};

/** A log that loses its end: the worst that a store can do, and what must not pass unnoticed (rule 2). */
const losses: Profile = { ...outages, name: "losses", losesLog: true, gateways: 1 };

/** Every kind of world. */
export const profiles = { plain, modes, watches, elections, outages, losses } as const;

/** Which world a seed is; what is here twice comes twice as often. */
const mixture: readonly Profile[] = [
  plain,
  plain,
  plain,
  modes,
  modes,
  modes,
  watches,
  elections,
  elections,
  outages,
  outages,
  losses,
];

/** The kind of world that a seed belongs to. */
export function profileOf(seed: number): Profile {
  return mixture[hash32(`${seed}/profile`) % mixture.length] ?? plain;
}
