import { type Bus, type BusServer, type Handlers, partitionRoute, type ServeOptions, serve } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  GuardServiceDefinition,
  LeaseServiceDefinition,
  StoreServiceDefinition,
} from "@tenure/contracts";
import { candidateReads, guardReads, leaseReads } from "@tenure/reader";
import {
  ackAnywhere,
  ackHere,
  renewAnywhere,
  renewHere,
  routedCommands,
  unroutedCommands,
} from "./command-handlers.ts";
import { type HandlerContext, passOn } from "./handler-context.ts";
import { barrierHere, listCandidates, listLeases } from "./list-handlers.ts";
import { candidateMethods, guardMethods, leaseMethods, storeMethods } from "./owner-methods.ts";
import { beatHere, partitionOfPacked, renewPackedHere } from "./packed-handlers.ts";
import { routedReads, unroutedReads } from "./read-handlers.ts";
import { candidateServiceInBytes, leaseServiceInBytes } from "./watch-bytes.ts";

type LeaseHandlers = Partial<Handlers<typeof leaseServiceInBytes>>;
type GuardHandlers = Partial<Handlers<typeof GuardServiceDefinition>>;
type CandidateHandlers = Partial<Handlers<typeof candidateServiceInBytes>>;
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
    renew: (request, scope) => renewPackedHere(context, partition, request, scope),
    beat: (request) => beatHere(context, partition, request),
  };
  return [
    serve(bus, leaseServiceInBytes, leases, routed),
    serve(bus, GuardServiceDefinition, guards, routed),
    serve(bus, candidateServiceInBytes, candidates, routed),
    serve(bus, StoreServiceDefinition, store, routed),
  ];
}

/** Serves callers that know no routes: any replica answers or brings the call to the owner. */
export function serveAnywhere(bus: Bus, context: HandlerContext, options: ServeOptions): readonly BusServer[] {
  const { clients, watches } = context;
  const leases: LeaseHandlers = {
    ...(unroutedCommands(context, clients.leases, leaseMethods) as LeaseHandlers),
    ...(unroutedReads(context, clients.leases, leaseReads) as LeaseHandlers),
    renew: (request, scope) => renewAnywhere(context, request, scope),
    list: (request, scope) => listLeases(context, request, scope),
    watch: (request, { signal }) => watches.leases(request, signal),
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
    watch: (request, { signal }) => watches.candidates(request, signal),
  };
  const store: StoreHandlers = {
    ...(unroutedCommands(context, clients.store, storeMethods) as StoreHandlers),
    renew: (request, scope) => {
      const partition = partitionOfPacked(request) % context.replica.partitions.length;
      return context.calls.call(
        {
          partition,
          isRepeatable: true,
          local: (signal) => renewPackedHere(context, partition, request, signal).promise,
          remote: (route, more) => clients.store.renew(request, passOn(scope, route, more)),
        },
        scope,
      );
    },
  };
  return [
    serve(bus, leaseServiceInBytes, leases, options),
    serve(bus, GuardServiceDefinition, guards, options),
    serve(bus, candidateServiceInBytes, candidates, options),
    serve(bus, StoreServiceDefinition, store, options),
  ];
}
