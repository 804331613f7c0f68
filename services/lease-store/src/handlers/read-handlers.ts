import { ReadConsistency, type ReadOptions } from "@tenure/contracts";
import { type PointRead, readPlain } from "@tenure/reader";
import { ReadCall } from "../replica/call.ts";
import { ownerChanged } from "../replica/faults.ts";
import { type AnyHandler, type HandlerContext, methodOf, partitionOfLease, passOn, unwrap } from "./handler-context.ts";

/** What an owner needs to answer reads. */
type ReadContext = Pick<HandlerContext, "clock" | "replica">;
type AnyRead = PointRead<never, unknown>;
type AnyRequest = { readonly read: ReadOptions | undefined };

/** Handlers on the route of one partition: linearizable, by its owner. */
export function routedReads(
  context: ReadContext,
  partition: number,
  table: object,
): Readonly<Record<string, AnyHandler>> {
  return mapReads(table, (_, method) => async (request, { signal }) => {
    if (partitionOfLease(context, unwrap(method.lease(request))) !== partition) throw ownerChanged(partition);
    return readHere(context, partition, method, request, signal);
  });
}

/** Handlers for callers that know no routes: a plain read is answered by this replica, a linearizable one by the owner. */
export function unroutedReads(
  context: HandlerContext,
  client: object,
  table: object,
): Readonly<Record<string, AnyHandler>> {
  return mapReads(table, (key, method) => async (request, scope) => {
    const { read } = request as AnyRequest;
    if (read?.consistency !== ReadConsistency.LINEARIZABLE) {
      return readPlain(context.model, method, request, scope.signal);
    }
    const partition = partitionOfLease(context, unwrap(method.lease(request)));
    const send = methodOf(client, key);
    return context.calls.call(
      {
        partition,
        isRepeatable: true,
        local: (signal) => readHere(context, partition, method, request, signal),
        remote: (route, options) => send(request, passOn(scope, route, options)),
      },
      scope,
    );
  });
}

function readHere(
  context: ReadContext,
  partition: number,
  method: AnyRead,
  request: never,
  signal: AbortSignal,
): Promise<unknown> {
  const lease = unwrap(method.lease(request));
  const call = new ReadCall(({ state, waiters }) =>
    unwrap(method.respond(lease, request, { state, waiters, now: context.clock.now() })),
  );
  return context.replica.at(partition).submit(call, signal).promise;
}

function mapReads(
  table: object,
  handlerOf: (key: string, method: AnyRead) => AnyHandler,
): Readonly<Record<string, AnyHandler>> {
  const entries = Object.entries(table) as [string, AnyRead][];
  return Object.fromEntries(entries.map(([key, method]) => [key, handlerOf(key, method)]));
}
