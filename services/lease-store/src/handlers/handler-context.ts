import { type Bus, type CallContext, type Client, createClient } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  GuardServiceDefinition,
  LeaseServiceDefinition,
  StoreServiceDefinition,
} from "@tenure/contracts";
import { type LeaseKey, partitionOf } from "@tenure/core";
import { type Clock, Fault } from "@tenure/kernel";
import type { ReadModel, Watches } from "@tenure/reader";
import type { StoreReplica } from "../replica/store-replica.ts";
import type { OwnerCalls } from "./owner-calls.ts";

/** How the owners on other replicas are called. */
export interface OwnerClients {
  readonly leases: Client<typeof LeaseServiceDefinition>;
  readonly guards: Client<typeof GuardServiceDefinition>;
  readonly candidates: Client<typeof CandidateServiceDefinition>;
  readonly store: Client<typeof StoreServiceDefinition>;
}

/** What every handler needs. */
export interface HandlerContext {
  readonly replica: StoreReplica;
  readonly calls: OwnerCalls;
  readonly clients: OwnerClients;
  readonly clock: Clock;
  /** What lists, plain reads and watches are answered from. */
  readonly model: ReadModel;
  readonly watches: Watches;
}

/** Clients of the services that owners serve. */
export function ownerClients(bus: Bus): OwnerClients {
  return {
    leases: createClient(bus, LeaseServiceDefinition),
    guards: createClient(bus, GuardServiceDefinition),
    candidates: createClient(bus, CandidateServiceDefinition),
    store: createClient(bus, StoreServiceDefinition),
  };
}

/** A value, or the thrown fault that stands in its place. */
export function unwrap<Value>(value: Value | Fault): Value {
  if (value instanceof Fault) throw value;
  return value;
}

/** The partition of a lease. */
export function partitionOfLease({ replica }: Pick<HandlerContext, "replica">, lease: LeaseKey): number {
  return partitionOf(lease, replica.partitions.length);
}

/** What a forwarded call passes on. */
export function passOn({ principal, trace }: CallContext, route: string, more: object): object {
  return { principal, trace, route, ...more };
}

/** A handler whose types have been checked where it was made. */
export type AnyHandler = (request: never, context: CallContext) => Promise<unknown>;

/** A client's method, by a name that has been checked where the table was made. */
export function methodOf(client: object, key: string): (request: unknown, options: object) => Promise<unknown> {
  const method: unknown = Reflect.get(client, key);
  if (typeof method !== "function") throw new Error(`the client has no method ${key}`);
  return (request, options) => method(request, options);
}
