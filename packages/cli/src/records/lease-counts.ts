import { type Lease, LeaseServiceListRequest, LeaseState } from "@tenure/contracts";
import type { Tenure } from "@tenure/sdk";
import { pages } from "./pages.ts";
import { leaseText, word } from "./words.ts";

/** The largest page that the API gives. */
const pageSize = 5_000;
/** More names than this do not fit on a screen. */
const mostNames = 5;

/** Leases at a glance. */
export interface LeaseCounts {
  readonly total: number;
  /** How many are in each state, by its word, in the order of the API. */
  readonly states: ReadonlyMap<string, number>;
  readonly candidates: number;
  /** Leases that have candidates and no leader. */
  readonly leaderless: number;
  /** Some of their names. */
  readonly leaderlessNames: readonly string[];
}

/** Counts all leases outside the system's own namespaces, by plain reads. */
export async function countLeases(tenure: Tenure): Promise<LeaseCounts> {
  const states = new Map<LeaseState, number>();
  const leaderless: string[] = [];
  let total = 0;
  let candidates = 0;
  for await (const lease of allLeases(tenure)) {
    total += 1;
    candidates += lease.candidates;
    states.set(lease.state, (states.get(lease.state) ?? 0) + 1);
    if (lease.candidates > 0 && lease.holds.length === 0) leaderless.push(leaseText(lease.key));
  }
  const sorted = [...states].toSorted(([left], [right]) => left - right);
  return {
    total,
    states: new Map(sorted.map(([state, count]) => [word(LeaseState, state), count])),
    candidates,
    leaderless: leaderless.length,
    leaderlessNames: leaderless.slice(0, mostNames),
  };
}

function allLeases(tenure: Tenure): AsyncIterable<Lease> {
  return pages(async (token) => {
    const request = LeaseServiceListRequest.fromPartial({ page: { size: pageSize, token } });
    const { leases, page } = await tenure.session.call("LeaseService.List", request);
    return { items: leases, page };
  });
}
