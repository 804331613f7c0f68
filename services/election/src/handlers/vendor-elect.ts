import type { CallContext } from "@tenure/bus";
import {
  candidateOfRequest,
  type ElectionServiceElectRequest,
  type ElectionServiceElectResponse,
  electionDecisionToWire,
  leaseKeyToWire,
  StoreServiceElectRequest,
} from "@tenure/contracts";
import { defaultLimits, explainElection } from "@tenure/core";
import { Fault, randomBase58 } from "@tenure/kernel";
import { askingOf, type ElectionContext, reach, requireView } from "./election-context.ts";

/** Chooses a candidate for a lease whose strategy leaves the choice to others; refused for every other strategy. */
export async function elect(
  context: ElectionContext,
  request: ElectionServiceElectRequest,
  scope: CallContext,
): Promise<ElectionServiceElectResponse> {
  const named = candidateOfRequest({ candidate: request.candidate, read: undefined });
  if (named instanceof Fault) throw named;
  const { candidate, lease } = named;
  await reach(context, lease, undefined, scope);
  const view = requireView(context, lease);
  const now = context.clock.now();
  const explained = explainElection(view, now);
  if (explained.strategy?.kind !== "vendor") {
    throw new Fault({
      code: "FAILED_PRECONDITION",
      reason: "COORDINATED",
      message: `lease ${lease} is not under a vendor's strategy but ${explained.strategy?.kind ?? "under none"}: its own coordinator elects`,
      details: { lease, applied: "NO" },
    });
  }
  const reason = request.note?.reason || `chosen by ${scope.principal}`;
  const { clock, random } = context;
  const decision = electionDecisionToWire(
    { ...explained, outcome: "elected", winner: candidate, reason },
    {
      record: view.record,
      id: randomBase58(random, 10),
      decidedBy: scope.principal,
      now,
      wallMs: clock.wall(),
      maximumBytes: defaultLimits.decisionBytes / 2,
    },
  );
  const { attempt, expectedRevision } = request;
  const command = StoreServiceElectRequest.fromPartial({
    ...(attempt && { attempt }),
    lease: leaseKeyToWire(lease),
    expectedRevision,
    candidate,
    coordinator: scope.principal,
    decision,
  });
  return { lease: await context.store.elect(lease, command, askingOf(scope)) };
}
