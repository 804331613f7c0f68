import type { CallContext } from "@tenure/bus";
import {
  candidateToWire,
  durationFromMs,
  type ElectionServiceGetRequest,
  type ElectionServiceGetResponse,
  leaseOfRequest,
  leaseToWire,
} from "@tenure/contracts";
import { elapsedMs, partitionOf } from "@tenure/core";
import { type ElectionContext, reach, requireView } from "./election-context.ts";
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
  const { clock, reader } = context;
  const now = clock.now();
  const partition = partitionOf(lease, reader.partitions);
  const sinceMs = clock.wall() - dayMs;
  const candidates = [...(record.candidates?.values() ?? [])].sort((one, other) => (one.name < other.name ? -1 : 1));
  const isVacant = record.holds.length === 0;
  return {
    election: {
      lease: leaseToWire(record, { partition, now }),
      leadership: leadershipOf(lease, record, reader.partitions, now),
      candidates: candidates.map((candidate) => candidateToWire(lease, candidate, now)),
      recentTransitions: record.history.filter(({ kind, position }) => kind === "granted" && position.wallMs >= sinceMs)
        .length,
      lastDecisionId: record.decisions?.at(-1)?.id ?? "",
      vacantFor: isVacant ? durationFromMs(Math.round(elapsedMs(record.freeSince, now))) : undefined,
    },
    revision: reader.revision,
  };
}
