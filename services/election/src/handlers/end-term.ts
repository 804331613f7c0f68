import type { CallContext } from "@tenure/bus";
import {
  candidateOfRequest,
  durationFromMs,
  durationToMs,
  type ElectionServiceCancelEndOfTermRequest,
  type ElectionServicePreemptRequest,
  type ElectionServiceStepDownRequest,
  type Lease,
  leaseKeyToWire,
  leaseOfRequest,
  leaseToWire,
  StoreServiceMarkEndOfTermRequest,
} from "@tenure/contracts";
import { type Hold, type LeaseKey, partitionOf, whyNotElectable } from "@tenure/core";
import { Fault, invalid } from "@tenure/kernel";
import { awaitAnswer } from "./await-answer.ts";
import { askingOf, type ElectionContext, reach, requireView } from "./election-context.ts";
import { leaseIn } from "./question.ts";
import { withRevision } from "./with-revision.ts";

/** Asks the holder to finish for whoever is best without it. */
export async function stepDown(
  context: ElectionContext,
  request: ElectionServiceStepDownRequest,
  scope: CallContext,
): Promise<{ lease: Lease | undefined }> {
  const lease = leaseIn(leaseOfRequest({ lease: request.lease, read: undefined }));
  requireReason(request);
  await reach(context, lease, undefined, scope);
  runningHold(context, lease, request.token);
  if (request.dryRun) return { lease: shownLease(context, lease) };
  return { lease: await mark(context, lease, request, "", scope) };
}

/** Ends the running term for a named candidate that has answered. */
export async function preempt(
  context: ElectionContext,
  request: ElectionServicePreemptRequest,
  scope: CallContext,
): Promise<{ lease: Lease | undefined }> {
  const named = candidateOfRequest({ candidate: request.candidate, read: undefined });
  if (named instanceof Fault) throw named;
  const { candidate, lease } = named;
  requireReason(request);
  await reach(context, lease, undefined, scope);
  const hold = runningHold(context, lease, 0n);
  if (hold.holder === candidate) {
    throw invalid([{ field: "candidate.name", rule: "must not be the present holder", value: candidate }]);
  }
  requireElectable(context, lease, candidate);
  await awaitAnswer(context, lease, candidate, scope);
  if (request.dryRun) return { lease: shownLease(context, lease) };
  return { lease: await mark(context, lease, { ...request, token: hold.token }, candidate, scope) };
}

/** Withdraws the request to finish; the holder goes on. */
export async function cancelEndOfTerm(
  context: ElectionContext,
  { attempt, expectedRevision: expected, note, ...request }: ElectionServiceCancelEndOfTermRequest,
  scope: CallContext,
): Promise<{ lease: Lease | undefined }> {
  const lease = leaseIn(leaseOfRequest({ lease: request.lease, read: undefined }));
  await reach(context, lease, undefined, scope);
  const send = (expectedRevision: bigint) => {
    const command = {
      ...(attempt && { attempt }),
      lease: leaseKeyToWire(lease),
      expectedRevision,
      ...(note && { note }),
    };
    return context.store.markEndOfTerm(lease, StoreServiceMarkEndOfTermRequest.fromPartial(command), askingOf(scope));
  };
  return { lease: await withRevision(context, lease, expected, scope, send) };
}

type EndRequest = Pick<
  ElectionServiceStepDownRequest,
  "attempt" | "drainBound" | "expectedRevision" | "note" | "token"
> &
  Partial<Pick<ElectionServiceStepDownRequest, "coolDown">>;

/** Marks the running term. Without a cool-down the former holder would be elected again at once. */
function mark(
  context: ElectionContext,
  lease: LeaseKey,
  request: EndRequest,
  preferredHolder: string,
  scope: CallContext,
): Promise<Lease> {
  const { attempt, drainBound, note } = request;
  return withRevision(context, lease, request.expectedRevision, scope, (expectedRevision) => {
    const { token } = runningHold(context, lease, request.token);
    const message = StoreServiceMarkEndOfTermRequest.fromPartial({
      ...(attempt && { attempt }),
      lease: leaseKeyToWire(lease),
      expectedRevision,
      endOfTerm: { token, preferredHolder, ...(drainBound && { drainBound }) },
      coolDown: durationFromMs(coolDownMs(context, lease, request)),
      ...(note && { note }),
    });
    return context.store.markEndOfTerm(lease, message, askingOf(scope));
  });
}

function coolDownMs(context: ElectionContext, lease: LeaseKey, { coolDown }: EndRequest): number {
  if (coolDown !== undefined) return durationToMs(coolDown);
  return requireView(context, lease).record.spec.coolDownMs || context.stepDownCoolDownMs;
}

/** The term that is to end. */
function runningHold(context: ElectionContext, lease: LeaseKey, token: bigint): Hold {
  const { record } = requireView(context, lease);
  const hold = record.holds.find((held) => token === 0n || held.token === token);
  if (hold !== undefined) return hold;
  const what = token === 0n ? "nobody holds it" : `no term with token ${token} runs`;
  throw new Fault({
    code: "FAILED_PRECONDITION",
    reason: "NOT_HOLDER",
    message: `lease ${lease} has no term to end: ${what}`,
    details: { lease, token: record.lastToken, revision: record.revision.sequence, applied: "NO" },
  });
}

function requireElectable(context: ElectionContext, lease: LeaseKey, name: string): void {
  const candidate = requireView(context, lease).record.candidates?.get(name);
  if (candidate === undefined) {
    const message = `lease ${lease} has no candidate ${name}`;
    throw new Fault({ code: "NOT_FOUND", reason: "CANDIDATE_NOT_FOUND", message, details: { lease, applied: "NO" } });
  }
  const why = whyNotElectable(candidate, context.clock.now());
  if (why === undefined) return;
  throw new Fault({
    code: "FAILED_PRECONDITION",
    reason: "CANDIDATE_NOT_ELECTABLE",
    message: `candidate ${name} of lease ${lease} cannot be elected: ${why}`,
    details: { lease, applied: "NO", attributes: { why } },
  });
}

function requireReason({ note }: Pick<EndRequest, "note">): void {
  if (note !== undefined && note.reason.trim() !== "") return;
  throw invalid([{ field: "note.reason", rule: "is required", value: "absent" }]);
}

function shownLease(context: ElectionContext, lease: LeaseKey): Lease {
  const { record } = requireView(context, lease);
  const partition = partitionOf(lease, context.reader.partitions);
  return leaseToWire(record, { partition, now: context.clock.now() });
}
