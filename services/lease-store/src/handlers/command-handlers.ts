import type { CallContext } from "@tenure/bus";
import {
  ackCandidatesCommand,
  ackResponse,
  type CandidateServiceAckRequest,
  type CandidateServiceAckResponse,
  type LeaseServiceRenewRequest,
  type LeaseServiceRenewResponse,
  leasesOf,
  renewCommand,
  renewResponse,
} from "@tenure/contracts";
import type { Command, CommandOf, LeaseKey } from "@tenure/core";
import type { Later } from "@tenure/kernel";
import { type Caller, CommandCall } from "../replica/call.ts";
import { ownerChanged } from "../replica/faults.ts";
import { agedWait } from "./aged-wait.ts";
import { type AnyHandler, type HandlerContext, methodOf, partitionOfLease, passOn, unwrap } from "./handler-context.ts";
import type { OwnerMethod } from "./owner-methods.ts";

type AnyMethod = OwnerMethod<never, unknown>;
type CommandHandler = (...call: Parameters<AnyHandler>) => Promise<unknown> | Later<unknown>;

/** Answers a command as the owner of its partition. */
export function decideHere<Request, Response>(
  context: HandlerContext,
  partition: number,
  method: OwnerMethod<Request, Response>,
  command: Command,
  caller: Caller | AbortSignal,
): Later<Response> {
  const call = new CommandCall(command, (reply, { state, waiters }) =>
    unwrap(method.respond(reply, { state, waiters, now: context.clock.now() })),
  );
  return context.replica.at(partition).submit(call, caller);
}

/** Handlers on the route of one partition: they answer here or say that the owner is another. */
export function routedCommands(
  context: HandlerContext,
  partition: number,
  table: object,
): Readonly<Record<string, CommandHandler>> {
  return mapMethods(table, (_, method) => (request, scope) => {
    const command = unwrap(method.command(request, scope.principal));
    if (partitionOfCommand(context, command) !== partition) throw ownerChanged(partition);
    return decideHere(context, partition, method, command, scope);
  });
}

/** Handlers for callers that know no routes: they bring the call to the owner, here or one hop away. */
export function unroutedCommands(
  context: HandlerContext,
  client: object,
  table: object,
): Readonly<Record<string, CommandHandler>> {
  return mapMethods(table, (key, method) => async (request, scope) => {
    const command = unwrap(method.command(request, scope.principal));
    const partition = partitionOfCommand(context, command);
    const send = methodOf(client, key);
    const arrivedAtMs = context.clock.now();
    const aged = () => agedWait(command, request, context.clock.now() - arrivedAtMs);
    return context.calls.call(
      {
        partition,
        isRepeatable: command.attempt !== undefined || command.isDryRun === true,
        local: (signal) => decideHere(context, partition, method, aged().command, signal).promise,
        remote: (route, options) => send(aged().request, passOn(scope, route, options)),
      },
      scope,
    );
  });
}

function mapMethods(
  table: object,
  handlerOf: (key: string, method: AnyMethod) => CommandHandler,
): Readonly<Record<string, CommandHandler>> {
  const entries = Object.entries(table) as [string, AnyMethod][];
  return Object.fromEntries(entries.map(([key, method]) => [key, handlerOf(key, method)]));
}

function partitionOfCommand(context: HandlerContext, command: Command): number {
  const [first = ""] = leasesOf(command);
  return partitionOfLease(context, first);
}

/** Answers renewals of one partition as its owner. */
export function renewHere(
  context: HandlerContext,
  partition: number,
  request: LeaseServiceRenewRequest,
  principal: string,
  signal: AbortSignal,
): Promise<LeaseServiceRenewResponse> {
  const command = unwrap(renewCommand(request, principal));
  const call = new CommandCall(command, (reply) => unwrap(renewResponse(request.renewals, reply)));
  return context.replica.at(partition).submit(call, signal).promise;
}

/** Renews terms of any partitions: each partition's by its owner, and the results in the order asked. */
export async function renewAnywhere(
  context: HandlerContext,
  request: LeaseServiceRenewRequest,
  scope: CallContext,
): Promise<LeaseServiceRenewResponse> {
  const { items }: CommandOf<"renew"> = unwrap(renewCommand(request, scope.principal));
  const parts = placesByPartition(
    context,
    items.map(({ lease }) => lease),
  );
  const results = new Array<LeaseServiceRenewResponse["results"][number]>(items.length);
  const renewPart = async ([partition, places]: readonly [number, readonly number[]]) => {
    const part = { ...request, renewals: pick(request.renewals, places) };
    const answer = await context.calls.call(
      {
        partition,
        isRepeatable: true,
        local: (signal) => renewHere(context, partition, part, scope.principal, signal),
        remote: (route, options) => context.clients.leases.renew(part, passOn(scope, route, options)),
      },
      scope,
    );
    spread(results, places, answer.results);
  };
  await Promise.all([...parts].map(renewPart));
  return { results };
}

/** Answers candidates' acks of one partition as its owner. */
export function ackHere(
  context: HandlerContext,
  partition: number,
  request: CandidateServiceAckRequest,
  principal: string,
  signal: AbortSignal,
): Promise<CandidateServiceAckResponse> {
  const command = unwrap(ackCandidatesCommand(request, principal));
  return context.replica.at(partition).submit(new CommandCall(command, (reply) => unwrap(ackResponse(reply))), signal)
    .promise;
}

/** Passes acks of any partitions to their owners. */
export async function ackAnywhere(
  context: HandlerContext,
  request: CandidateServiceAckRequest,
  scope: CallContext,
): Promise<CandidateServiceAckResponse> {
  const command = unwrap(ackCandidatesCommand(request, scope.principal));
  const parts = placesByPartition(context, leasesOf(command));
  const renewalRevisions = new Array<bigint>(request.answers.length);
  const ackPart = async ([partition, places]: readonly [number, readonly number[]]) => {
    const part = { answers: pick(request.answers, places) };
    const answer = await context.calls.call(
      {
        partition,
        isRepeatable: true,
        local: (signal) => ackHere(context, partition, part, scope.principal, signal),
        remote: (route, options) => context.clients.candidates.ack(part, passOn(scope, route, options)),
      },
      scope,
    );
    spread(renewalRevisions, places, answer.renewalRevisions);
  };
  await Promise.all([...parts].map(ackPart));
  return { renewalRevisions };
}

function placesByPartition(context: HandlerContext, leases: readonly LeaseKey[]): Map<number, number[]> {
  const parts = new Map<number, number[]>();
  leases.forEach((lease, place) => {
    const partition = partitionOfLease(context, lease);
    const places = parts.get(partition);
    if (places === undefined) parts.set(partition, [place]);
    else places.push(place);
  });
  return parts;
}

function pick<Item>(items: readonly Item[], places: readonly number[]): Item[] {
  return places.flatMap((place) => items.slice(place, place + 1));
}

function spread<Item>(into: Item[], places: readonly number[], items: readonly Item[]): void {
  places.forEach((place, index) => {
    const item = items[index];
    if (item !== undefined) into[place] = item;
  });
}
