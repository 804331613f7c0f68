import type { TermEnd } from "../term/term-end.ts";

/** What is counted for one lease; the locks of a namespace are counted together, as `namespace/*`. */
export interface LeaseMetrics {
  /** Terms that run and whose deadline is ahead: 1 while this process leads, 0 before and after; more for locks. */
  leading: number;
  /** Terms that began. */
  terms: number;
  /** Terms that ended, by why. */
  ended: Record<TermEnd["kind"], number>;
  /** Renewals that were proven. */
  renewals: number;
  /** Renewals that failed or were not answered in time, so that another had to be sent: the slow path. */
  renewalsMissed: number;
  /** Claims that failed and were tried again. */
  claimsFailed: number;
  /** Functions that still ran when their term was over. */
  overruns: number;
}

/** The counters of one client: plain numbers to read, or the text that Prometheus reads. */
export class ClientMetrics {
  readonly #leases = new Map<string, LeaseMetrics>();

  /** The counters of a lease; made at its first mention. */
  of(lease: string): LeaseMetrics {
    let found = this.#leases.get(lease);
    if (found === undefined) {
      found = noneYet();
      this.#leases.set(lease, found);
    }
    return found;
  }

  /** All counters by lease: a copy. */
  snapshot(): Readonly<Record<string, LeaseMetrics>> {
    return Object.fromEntries([...this.#leases].map(([lease, one]) => [lease, { ...one, ended: { ...one.ended } }]));
  }

  /** Prometheus' text format. The first two carry the names that dashboards of client-go have. */
  text(): string {
    const lines: string[] = [];
    for (const { name, kind, help, read } of families) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      for (const [lease, one] of this.#leases) {
        for (const [labels, value] of read(one)) lines.push(`${name}{name="${escaped(lease)}"${labels}} ${value}`);
      }
    }
    return `${lines.join("\n")}\n`;
  }
}

interface Family {
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly help: string;
  /** Further labels with their comma, and the value. */
  readonly read: (metrics: LeaseMetrics) => readonly (readonly [labels: string, value: number])[];
}

const families: readonly Family[] = [
  {
    name: "leader_election_master_status",
    kind: "gauge",
    help: "1 while this process leads, 0 otherwise.",
    read: ({ leading }) => [["", leading]],
  },
  {
    name: "leader_election_slowpath_total",
    kind: "counter",
    help: "Renewals that were not proven at their first send.",
    read: ({ renewalsMissed }) => [["", renewalsMissed]],
  },
  {
    name: "tenure_sdk_terms_total",
    kind: "counter",
    help: "Terms that began.",
    read: ({ terms }) => [["", terms]],
  },
  {
    name: "tenure_sdk_terms_ended_total",
    kind: "counter",
    help: "Terms that ended, by why.",
    read: ({ ended }) => Object.entries(ended).map(([why, count]) => [`,why="${why}"`, count] as const),
  },
  {
    name: "tenure_sdk_renewals_total",
    kind: "counter",
    help: "Renewals that were proven.",
    read: ({ renewals }) => [["", renewals]],
  },
  {
    name: "tenure_sdk_claims_failed_total",
    kind: "counter",
    help: "Claims that failed and were tried again.",
    read: ({ claimsFailed }) => [["", claimsFailed]],
  },
  {
    name: "tenure_sdk_overruns_total",
    kind: "counter",
    help: "Functions that still ran when their term was over.",
    read: ({ overruns }) => [["", overruns]],
  },
];

function noneYet(): LeaseMetrics {
  const ended = { released: 0, stopped: 0, "end-of-term": 0, unreachable: 0, expired: 0, preempted: 0 };
  return { leading: 0, terms: 0, ended, renewals: 0, renewalsMissed: 0, claimsFailed: 0, overruns: 0 };
}

function escaped(label: string): string {
  return label.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
