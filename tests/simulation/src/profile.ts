import { defaultLeaseSpec, hash32, type LeaseSpec, type Timing } from "@tenure/core";
import type { Incident } from "./schedule.ts";
import { delayedTiming, timing } from "./store/timing.ts";

/** One lease of a world and how it is used there. */
export interface LeasePlan {
  readonly key: string;
  /** `readWrite` is claimed alone by some and together by others. */
  readonly use: "exclusive" | "readWrite" | "counted" | "elected" | "migration";
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
  /** Coordinators that choose one after the other, whoever is best, so that the store is tried with whatever they may ask for. */
  readonly coordinators: number;
  /** Replicas of the election service. */
  readonly elections: number;
  /** How many changes of strategies, priorities and versions are made before everything heals. */
  readonly electionChanges: number;
  /** Gateways that read the log for watchers, beside the replicas. */
  readonly gateways: number;
  readonly watchers: number;
  /** One that meddles also marks terms to end, and tries what only a holder may do. */
  readonly operator: "none" | "usual" | "meddling";
  /** Incidents beside the usual ones; what is here twice comes twice as often. */
  readonly incidents: readonly Incident["kind"][];
  /** Durations that holders ask for with their renewals, in turn; absent ones keep what the term has. */
  readonly durationsMs: readonly (number | undefined)[];
  /** Whether the log loses its end in the course of the run. */
  readonly losesLog: boolean;
  /** How long things go wrong and are changed. */
  readonly troubleMs: number;
  /** Whether nothing goes wrong at all. */
  readonly isCalm: boolean;
  /** How long the world goes on when nothing goes wrong any more, to show that it lives. */
  readonly afterMs: number;
}

const quiet = {
  mostHolders: 4,
  candidates: 0,
  coordinators: 0,
  elections: 0,
  electionChanges: 0,
  gateways: 0,
  watchers: 0,
  operator: "usual",
  incidents: [],
  durationsMs: [undefined],
  losesLog: false,
  troubleMs: 4_000,
  isCalm: false,
  afterMs: 6_000,
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
  operator: "meddling",
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

/** Changes hands at a pace, and is claimed by its candidates when no coordinator acts. */
const pacedSpec: LeaseSpec = { ...shortSpec, minimumTermMs: 300, coolDownMs: 200, fallbackDelayMs: 500 };

/** Leases whose holders are elected, beside one that is not. */
const elections: Profile = {
  ...quiet,
  name: "elections",
  mostHolders: 2,
  candidates: 3,
  coordinators: 2,
  gateways: 1,
  watchers: 1,
  operator: "meddling",
  leases: (count) => [
    plan("world/lease-1", "exclusive"),
    ...numbered(Math.min(count, 2), (index) => plan(`world/elected-${index}`, "elected")),
  ],
};

/**
 * The election service itself: replicas that come and go, candidates that answer late, twice or not at all, and changes
 * of strategies, priorities and versions all the while. When things are quiet the best leads.
 */
const coordination: Profile = {
  ...quiet,
  name: "coordination",
  mostHolders: 1,
  candidates: 3,
  elections: 2,
  electionChanges: Number.POSITIVE_INFINITY,
  operator: "none",
  leases: (count) => [
    plan("world/elected-1", "elected"),
    ...(count > 1 ? [plan("world/elected-2", "elected", { spec: pacedSpec })] : []),
  ],
  incidents: ["crash", "pause", "cutLog", "isolate", "roll", "roll", "suspend", "suspend"],
  afterMs: 8_000,
};

/** Nothing goes wrong, but what elections depend on changes a thousand times. */
const restless: Profile = {
  ...coordination,
  name: "restless",
  mostHolders: 0,
  electionChanges: 1_000,
  troubleMs: 100_000,
  afterMs: 5_000,
  isCalm: true,
  leases: () => [plan("world/elected-1", "elected")],
};

/**
 * Locks that decide which of two components runs, one that is raced for and one whose holder is elected, while the
 * configuration says now this and now that (rule 24).
 */
const migrations: Profile = {
  ...quiet,
  name: "migrations",
  candidates: 3,
  coordinators: 1,
  operator: "meddling",
  leases: () => [plan("world/lock", "migration"), plan("world/elected-lock", "elected")],
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

/** Holders that want longer and shorter terms while theirs run, and may not hear what became of that (rule 16). */
const lengths: Profile = {
  ...outages,
  name: "lengths",
  durationsMs: [undefined, 2 * timing.leaseDurationMs, undefined, undefined, timing.usableTermMs / 4, undefined],
};

/** Every kind of world. */
export const profiles = { plain, modes, watches, elections, coordination, migrations, outages, losses } as const;

/** Worlds that seeds do not draw: one is long, and the other came after seeds that are kept. */
export { lengths, restless };

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
  coordination,
  coordination,
  migrations,
  outages,
  outages,
  losses,
];

/** The kind of world that a seed belongs to. */
export function profileOf(seed: number): Profile {
  return mixture[hash32(`${seed}/profile`) % mixture.length] ?? plain;
}
