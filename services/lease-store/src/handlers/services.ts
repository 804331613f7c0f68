import { type Bus, type BusServer, type Handlers, partitionRoute, type ServeOptions, serve } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  GuardServiceDefinition,
  LeaseServiceDefinition,
  StoreServiceDefinition,
} from "@tenure/contracts";
import type { LeaseKey } from "@tenure/core";
import { candidateWatch } from "../watch/candidate-watch.ts";
import type { Renderer } from "../watch/changes.ts";
import { leaseWatch } from "../watch/lease-watch.ts";
import { watch } from "../watch/watch-stream.ts";
import {
  ackAnywhere,
  ackHere,
  renewAnywhere,
  renewHere,
  routedCommands,
  unroutedCommands,
} from "./command-handlers.ts";
import { type HandlerContext, partitionOfLease, passOn } from "./handler-context.ts";
import { barrierHere, listCandidates, listLeases } from "./list-handlers.ts";
import { candidateMethods, guardMethods, leaseMethods, storeMethods } from "./owner-methods.ts";
import { beatHere, partitionOfPacked, renewPackedHere } from "./packed-handlers.ts";
import { routedReads, unroutedReads } from "./read-handlers.ts";
import { candidateReads, guardReads, leaseReads } from "./read-methods.ts";

type LeaseHandlers = Partial<Handlers<typeof LeaseServiceDefinition>>;
type GuardHandlers = Partial<Handlers<typeof GuardServiceDefinition>>;
type CandidateHandlers = Partial<Handlers<typeof CandidateServiceDefinition>>;
type StoreHandlers = Partial<Handlers<typeof StoreServiceDefinition>>;

/** The services that a replica serves, on whatever subjects. */
export const servedDefinitions = [
  LeaseServiceDefinition,
  GuardServiceDefinition,
  CandidateServiceDefinition,
  StoreServiceDefinition,
] as const;

/** Serves calls that name one partition and epoch, as its owner. */
export function serveOwned(
  bus: Bus,
  context: HandlerContext,
  partition: number,
  epoch: bigint,
  options: ServeOptions,
): readonly BusServer[] {
  const routed = { ...options, route: partitionRoute(partition, epoch) };
  const leases: LeaseHandlers = {
    // The tables were checked against the definitions where they were made, which the compiler cannot follow here.
    ...(routedCommands(context, partition, leaseMethods) as LeaseHandlers),
    ...(routedReads(context, partition, leaseReads) as LeaseHandlers),
    renew: (request, { principal, signal }) => renewHere(context, partition, request, principal, signal),
    list: async (_, { signal }) => ({ leases: [], page: await barrierHere(context, partition, signal) }),
  };
  const guards = {
    ...routedCommands(context, partition, guardMethods),
    ...routedReads(context, partition, guardReads),
  } as GuardHandlers;
  const candidates: CandidateHandlers = {
    ...(routedCommands(context, partition, candidateMethods) as CandidateHandlers),
    ...(routedReads(context, partition, candidateReads) as CandidateHandlers),
    ack: (request, { principal, signal }) => ackHere(context, partition, request, principal, signal),
  };
  const store: StoreHandlers = {
    ...(routedCommands(context, partition, storeMethods) as StoreHandlers),
    renew: (request, { signal }) => renewPackedHere(context, partition, request, signal),
    beat: (request) => beatHere(context, partition, request),
  };
  return [
    serve(bus, LeaseServiceDefinition, leases, routed),
    serve(bus, GuardServiceDefinition, guards, routed),
    serve(bus, CandidateServiceDefinition, candidates, routed),
    serve(bus, StoreServiceDefinition, store, routed),
  ];
}

/** Serves callers that know no routes: any replica answers or brings the call to the owner. */
export function serveAnywhere(
  bus: Bus,
  context: HandlerContext,
  render: Renderer,
  options: ServeOptions,
): readonly BusServer[] {
  const { clients } = context;
  const partitionsOf = (names: readonly LeaseKey[] | undefined) =>
    names === undefined
      ? context.replica.partitions.map(({ partition }) => partition)
      : [...new Set(names.map((name) => partitionOfLease(context, name)))];
  const leases: LeaseHandlers = {
    ...(unroutedCommands(context, clients.leases, leaseMethods) as LeaseHandlers),
    ...(unroutedReads(context, clients.leases, leaseReads) as LeaseHandlers),
    renew: (request, scope) => renewAnywhere(context, request, scope),
    list: (request, scope) => listLeases(context, request, scope),
    watch: (request, { signal }) => watch(context.watch, leaseWatch(request, render, partitionsOf), signal),
  };
  const guards = {
    ...unroutedCommands(context, clients.guards, guardMethods),
    ...unroutedReads(context, clients.guards, guardReads),
  } as GuardHandlers;
  const candidates: CandidateHandlers = {
    ...(unroutedCommands(context, clients.candidates, candidateMethods) as CandidateHandlers),
    ...(unroutedReads(context, clients.candidates, candidateReads) as CandidateHandlers),
    ack: (request, scope) => ackAnywhere(context, request, scope),
    list: (request, scope) => listCandidates(context, request, scope),
    watch: (request, { signal }) => watch(context.watch, candidateWatch(request, render, partitionsOf), signal),
  };
  const store: StoreHandlers = {
    ...(unroutedCommands(context, clients.store, storeMethods) as StoreHandlers),
    renew: (request, scope) => {
      const partition = partitionOfPacked(request) % context.replica.partitions.length;
      return context.calls.call(
        {
          partition,
          isRepeatable: true,
          local: (signal) => renewPackedHere(context, partition, request, signal),
          remote: (route, more) => clients.store.renew(request, passOn(scope, route, more)),
        },
        scope,
      );
    },
  };
  return [
    serve(bus, LeaseServiceDefinition, leases, options),
    serve(bus, GuardServiceDefinition, guards, options),
    serve(bus, CandidateServiceDefinition, candidates, options),
    serve(bus, StoreServiceDefinition, store, options),
  ];
}
