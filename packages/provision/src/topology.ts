import { inboxPrefixOf } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  ElectionServiceDefinition,
  GuardServiceDefinition,
  IdentityServiceDefinition,
  LeaseServiceDefinition,
  MigrationServiceDefinition,
  SessionServiceDefinition,
  StoreServiceDefinition,
  SystemServiceDefinition,
} from "@tenure/contracts";

/** The NATS users of the services: one each, so that a stolen seed opens only what that service may do. */
export const serviceUsers = ["lease-store", "identity", "election", "migration", "gateway"] as const;

/** The NATS user of a service. */
export type ServiceUser = (typeof serviceUsers)[number];

/** Every NATS user: the services', `provision` (makes streams), `compactor` (purges), `system` (reads the servers). */
export const users = [...serviceUsers, "provision", "compactor", "system"] as const;

/** A NATS user of the deployment. */
export type User = (typeof users)[number];

/** Who serves what, and who calls it: everything else on the bus is refused by the NATS servers. */
interface Place {
  readonly serves: readonly string[];
  readonly calls: readonly string[];
}

const storeServices = [
  LeaseServiceDefinition,
  GuardServiceDefinition,
  CandidateServiceDefinition,
  StoreServiceDefinition,
].map((definition) => definition.name);

const election = ElectionServiceDefinition.name;
const identity = IdentityServiceDefinition.name;
const migration = MigrationServiceDefinition.name;
const session = SessionServiceDefinition.name;
const system = SystemServiceDefinition.name;

/**
 * The wiring of the services. A lease store also calls: a call that reaches the wrong replica goes on to the
 * partition's owner. The lease stores answer the doctor's questions, the gateway the status.
 */
const places: Readonly<Record<ServiceUser, Place>> = {
  "lease-store": { serves: [...storeServices, system], calls: storeServices },
  identity: { serves: [identity], calls: storeServices },
  election: { serves: [election], calls: storeServices },
  migration: { serves: [migration], calls: storeServices },
  gateway: { serves: [session, system], calls: [...storeServices, election, identity, migration, session, system] },
};

/** The simple names of the services that a user serves. */
export function servedBy(user: ServiceUser): readonly string[] {
  return places[user].serves;
}

/** The simple names of the services that a user calls. */
export function calledBy(user: ServiceUser): readonly string[] {
  return places[user].calls;
}

/** The users that call any service that `user` serves: those whose inboxes it must reach. */
export function callersOf(user: ServiceUser): readonly ServiceUser[] {
  const served = servedBy(user);
  return serviceUsers.filter((caller) => calledBy(caller).some((service) => served.includes(service)));
}

/** Everything under a user's own inbox prefix. */
export function inboxOf(user: User): string {
  return `${inboxPrefixOf(user)}.>`;
}
