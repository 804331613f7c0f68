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

/** The NATS user of applications inside the deployment, whose SDK speaks NATS itself. */
export const componentUser = "component";

/**
 * Every NATS user: the services', `component` (applications), `provision` (makes streams), `compactor` (purges),
 * `system` (reads the servers).
 */
export const users = [...serviceUsers, componentUser, "provision", "compactor", "system"] as const;

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

/**
 * What applications may call: everything that they could call through the gateway. Of the store's own service only the
 * packed renewals and beats of waits, which the SDK sends itself; electing and expiring are for services. Never the
 * subject of its batches, which may name any method: what an application sends to this service goes alone.
 */
export const componentCalls = {
  services: [
    ...[LeaseServiceDefinition, GuardServiceDefinition, CandidateServiceDefinition].map(({ name }) => name),
    election,
    identity,
    migration,
    system,
  ],
  store: {
    service: StoreServiceDefinition.name,
    methods: [StoreServiceDefinition.methods.renew.name, StoreServiceDefinition.methods.beat.name],
  },
} as const;

/** The simple names of the services that a user serves. */
export function servedBy(user: ServiceUser): readonly string[] {
  return places[user].serves;
}

/** The simple names of the services that a user calls. */
export function calledBy(user: ServiceUser): readonly string[] {
  return places[user].calls;
}

/** The users that call any service that `user` serves: those whose inboxes it must reach. */
export function callersOf(user: ServiceUser): readonly User[] {
  const served = servedBy(user);
  const isCalled = (called: readonly string[]) => called.some((service) => served.includes(service));
  const callers: User[] = serviceUsers.filter((caller) => isCalled(calledBy(caller)));
  if (isCalled(componentCalls.services)) callers.push(componentUser);
  return callers;
}

/** Everything under a user's own inbox prefix. */
export function inboxOf(user: User): string {
  return `${inboxPrefixOf(user)}.>`;
}
