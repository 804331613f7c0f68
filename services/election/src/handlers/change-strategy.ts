import type { CallContext } from "@tenure/bus";
import {
  type ElectionServiceSetStrategyRequest,
  type ElectionServiceSetStrategyResponse,
  type Lease,
  leaseOfRequest,
  leaseToWire,
  Reading,
  StoreServicePutStrategyRequest,
  StrategySource,
  strategyFromWire,
  strategyToWire,
} from "@tenure/contracts";
import { checkStrategy, dryRunElection, type LeaseKey, partitionOf, type Strategy } from "@tenure/core";
import { checkExpression } from "@tenure/expression";
import { reachIn } from "@tenure/reader";
import { askingOf, catchUpMs, type ElectionContext, reach, recordOf } from "./election-context.ts";
import { leaseIn, shown } from "./question.ts";
import { withRevision } from "./with-revision.ts";

/** Sets the lease's strategy as an operator, or gives it back to the candidates. A conflict between them is over then. */
export async function setStrategy(
  context: ElectionContext,
  request: ElectionServiceSetStrategyRequest,
  scope: CallContext,
): Promise<ElectionServiceSetStrategyResponse> {
  const lease = leaseIn(leaseOfRequest({ lease: request.lease, read: undefined }));
  const strategy = readStrategy(context, request);
  await reach(context, lease, undefined, scope);
  if (request.dryRun)
    return { lease: presentLease(context, lease), consequence: consequenceOf(context, lease, strategy) };
  const { attempt, note } = request;
  const changed = await withRevision(context, lease, request.expectedRevision, scope, (expectedRevision) =>
    context.store.putStrategy(
      lease,
      StoreServicePutStrategyRequest.fromPartial({
        ...(attempt && { attempt }),
        lease: request.lease ?? {},
        expectedRevision,
        ...(strategy && { strategy: { strategy: strategyToWire(strategy), source: StrategySource.OPERATOR } }),
        ...(note && { note }),
      }),
      askingOf(scope),
    ),
  );
  await reachIn(
    context.reader,
    partitionOf(lease, context.reader.partitions),
    changed.revision,
    catchUpMs,
    scope.signal,
  );
  return { lease: changed, consequence: consequenceOf(context, lease, undefined) };
}

/** The strategy of a request, checked to the last: an expression must compile. */
function readStrategy({ expressions }: ElectionContext, request: ElectionServiceSetStrategyRequest) {
  if (request.strategy === undefined) return undefined;
  const reading = new Reading();
  const strategy = strategyFromWire(reading, "strategy", request.strategy);
  reading.rejectAll(checkStrategy(strategy, "strategy"));
  const refusal = reading.refusal() ?? checkExpression(expressions, strategy, "strategy.expression");
  if (refusal !== undefined) throw refusal;
  return strategy;
}

function presentLease({ clock, reader }: ElectionContext, lease: LeaseKey): Lease | undefined {
  const partition = partitionOf(lease, reader.partitions);
  const record = reader.stateOf(partition).leases.get(lease);
  return record && leaseToWire(record, { partition, now: clock.now() });
}

/** What a strategy leads to as things are; that in force if none is given. Nothing while the lease has no record. */
function consequenceOf(context: ElectionContext, lease: LeaseKey, strategy: Strategy | undefined) {
  const view = recordOf(context, lease) === undefined ? undefined : context.viewOf(lease);
  if (view === undefined) return undefined;
  const hypotheses = strategy === undefined ? [] : [{ kind: "strategy", strategy } as const];
  return shown(context, dryRunElection(view, hypotheses, context.clock.now()).after, view);
}
