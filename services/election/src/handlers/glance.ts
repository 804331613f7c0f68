import type { CallContext } from "@tenure/bus";
import {
  candidateToWire,
  durationFromMs,
  Election,
  type ElectionServiceGetRequest,
  type ElectionServiceGetResponse,
  type ElectionServiceListRequest,
  type ElectionServiceListResponse,
  leaseOfRequest,
  leaseSelection,
  leaseToWire,
  ReadConsistency,
} from "@tenure/contracts";
import {
  type CandidateRecord,
  type Concerns,
  candidatesOf,
  copyOfCandidate,
  copyOfLease,
  elapsedMs,
  type LeaseRecord,
  partitionOf,
} from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { listByLease } from "@tenure/reader";
import { askingOf, type ElectionContext, reach, requireView } from "./election-context.ts";
import { leadershipOf } from "./leadership.ts";
import { leaseIn } from "./question.ts";

const dayMs = 86_400_000;

/** Reads one election at a glance. */
export async function get(
  context: ElectionContext,
  request: ElectionServiceGetRequest,
  scope: CallContext,
): Promise<ElectionServiceGetResponse> {
  const lease = leaseIn(leaseOfRequest(request));
  await reach(context, lease, request.read, scope);
  const { record } = requireView(context, lease);
  const candidates = [...(record.candidates?.values() ?? [])];
  return { election: electionOf(context, record, candidates, context.clock.now()), revision: context.reader.revision };
}

/** What lists of elections show: leases that somebody stands for, or that have a strategy. */
export const isOfElection: Concerns = (event, record) =>
  (record !== undefined && isElection(record)) || event.kind === "strategyChanged" || candidatesOf(event) !== undefined;

function isElection({ candidates, strategy }: LeaseRecord): boolean {
  return candidates !== undefined || strategy !== undefined;
}

/** Reads elections at a glance, in order of lease, all pages at the revision of the first. */
export async function list(
  context: ElectionContext,
  { page, read, selector, summaryOnly }: ElectionServiceListRequest,
  scope: CallContext,
): Promise<ElectionServiceListResponse> {
  const selection = leaseSelection(selector, { read });
  if (selection instanceof Fault) throw selection;
  const isFresh = read?.consistency === ReadConsistency.LINEARIZABLE;
  const barrier = async () => (isFresh ? await context.store.freshListRevision(askingOf(scope)) : 0n);
  const { page: shownPage, shown } = await listByLease<Election>(
    context.reader,
    { signal: scope.signal, barrier },
    {
      selection,
      selector,
      read,
      page,
      isShown: isElection,
      see(record, past, now) {
        const seen = copyOfLease(record);
        const of = summaryOnly ? [] : [...past.candidatesOf(record)];
        const candidates = of.map(({ candidate }) => copyOfCandidate(candidate));
        return () => electionOf(context, seen, candidates, now);
      },
      bytesOf: (election) => Election.encode(election).finish().length,
    },
  );
  return { elections: shown, page: shownPage };
}

function electionOf(
  { clock, reader }: ElectionContext,
  record: LeaseRecord,
  candidates: readonly CandidateRecord[],
  now: number,
): Election {
  const { decisions, freeSince, history, holds, key } = record;
  const byName = candidates.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const sinceMs = clock.wall() - dayMs;
  const recent = history.filter(({ kind, position }) => kind === "granted" && position.wallMs >= sinceMs);
  return {
    lease: leaseToWire(record, { partition: partitionOf(key, reader.partitions), now }),
    leadership: leadershipOf(key, record, reader.partitions, now),
    candidates: byName.map((candidate) => candidateToWire(key, candidate, now)),
    recentTransitions: recent.length,
    lastDecisionId: decisions?.at(-1)?.id ?? "",
    vacantFor: holds.length === 0 ? durationFromMs(Math.round(elapsedMs(freeSince, now))) : undefined,
  };
}
