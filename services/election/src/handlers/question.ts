import type { CallContext } from "@tenure/bus";
import {
  type Decision,
  decisionToWire,
  type ElectionServiceDryRunRequest,
  type ElectionServiceDryRunResponse,
  type ElectionServiceExplainRequest,
  type ElectionServiceExplainResponse,
  electionDecisionToWire,
  hypothesesFromWire,
  leaseOfRequest,
} from "@tenure/contracts";
import { dryRunElection, type ElectionDecision, type ElectionView, explainElection, type LeaseKey } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { type ElectionContext, reach, requireView } from "./election-context.ts";

/** Bytes of one decision in an answer: four fit into one message of the bus. */
const mostDecisionBytes = 200_000;

/** Ranks the candidates of a lease as they are now, or shows a recorded decision. */
export async function explain(
  context: ElectionContext,
  request: ElectionServiceExplainRequest,
  scope: CallContext,
): Promise<ElectionServiceExplainResponse> {
  const lease = leaseIn(leaseOfRequest(request));
  await reach(context, lease, request.read, scope);
  const view = requireView(context, lease);
  const kept = [...(view.record.decisions ?? [])].reverse();
  const recordedDecisionIds = kept.map(({ id }) => id);
  if (request.decisionId === "") {
    const decision = shown(context, explainElection(view, context.clock.now()), view);
    return { decision, recordedDecisionIds };
  }
  const found = kept.find(({ id }) => id === request.decisionId);
  if (found === undefined) throw decisionNotFound(lease, request.decisionId);
  return { decision: decisionToWire(found), recordedDecisionIds };
}

/** Says what would be decided if the hypotheses were true. */
export async function dryRun(
  context: ElectionContext,
  request: ElectionServiceDryRunRequest,
  scope: CallContext,
): Promise<ElectionServiceDryRunResponse> {
  const lease = leaseIn(leaseOfRequest(request));
  const hypotheses = hypothesesFromWire(request.hypotheses);
  if (hypotheses instanceof Fault) throw hypotheses;
  await reach(context, lease, request.read, scope);
  const view = requireView(context, lease);
  const { after, before, leaderChanges } = dryRunElection(view, hypotheses, context.clock.now());
  return { before: shown(context, before, view), after: shown(context, after, view), leaderChanges };
}

/** A decision that was only asked for. */
export function shown({ clock, instance }: ElectionContext, decision: ElectionDecision, view: ElectionView): Decision {
  return electionDecisionToWire(decision, {
    record: view.record,
    id: "",
    decidedBy: instance,
    now: clock.now(),
    wallMs: clock.wall(),
    maximumBytes: mostDecisionBytes,
  });
}

/** A lease's key as it was read, or the fault that says what is wrong with it. */
export function leaseIn(lease: LeaseKey | Fault): LeaseKey {
  if (lease instanceof Fault) throw lease;
  return lease;
}

function decisionNotFound(lease: LeaseKey, id: string): Fault {
  return new Fault({
    code: "NOT_FOUND",
    reason: "DECISION_NOT_FOUND",
    message: `lease ${lease} has no recorded decision ${JSON.stringify(id.slice(0, 80))}: it is unknown or no longer kept`,
    details: { lease },
  });
}
