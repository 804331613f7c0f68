import {
  auditWildcard,
  callSubject,
  callWildcard,
  controlWildcard,
  incarnationSubject,
  livenessWildcard,
  logWildcard,
  ownerWildcard,
  presenceWildcard,
  probeWildcard,
} from "@tenure/bus";
import { IdentityServiceDefinition } from "@tenure/contracts";
import {
  inspection,
  logReading,
  purging,
  snapshotReading,
  snapshotWriting,
  streamMaking,
} from "./jetstream-subjects.ts";
import { calledBy, callersOf, componentCalls, inboxOf, type ServiceUser, servedBy, type User } from "./topology.ts";

/** What a user may do. Allow-lists only: what is not named is refused. */
export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** The one question that the system user may ask: every server describes itself. */
const serverQuestion = "$SYS.REQ.SERVER.PING.VARZ";

/** The allow-list of a user. Nobody has `>`, and nobody can subscribe to another's inbox. */
export function permissionsOf(user: User): Permissions {
  switch (user) {
    case "provision":
      return {
        publish: [...inspection, ...streamMaking, incarnationSubject],
        subscribe: [inboxOf(user)],
      };
    case "compactor":
      return { publish: purging, subscribe: [inboxOf(user)] };
    case "component":
      return componentPermissions();
    case "system":
      return { publish: [serverQuestion], subscribe: [inboxOf(user)] };
    default:
      return servicePermissions(user);
  }
}

/**
 * A service publishes its calls and their steering, its answers, its presence, and its reads of JetStream.
 * Answers go to the callers' inboxes by name, not by `allow_responses`: streams answer for days and with any number of
 * messages, which that setting would have to leave unlimited, and it makes the server keep a record of every call.
 */
function servicePermissions(user: ServiceUser): Permissions {
  const called = calledBy(user);
  const served = servedBy(user);
  return {
    publish: [
      ...called.flatMap((service) => [callWildcard(service), controlWildcard(service)]),
      ...callersOf(user).map(inboxOf),
      presenceWildcard(user),
      ...inspection,
      ...logReading,
      ...snapshotReading,
      ...ownWrites[user],
    ],
    subscribe: [
      inboxOf(user),
      ...served.flatMap((service) => [callWildcard(service), controlWildcard(service)]),
      ...ownReads[user],
    ],
  };
}

/**
 * An application calls what the gateway would call for it, and hears who owns what, so that its calls go straight to the
 * owners. It reads neither log nor streams, serves nothing, and hears no other's answers; all applications share the
 * inbox, so one that does not trust its neighbours uses the gateway.
 */
function componentPermissions(): Permissions {
  const { services, store } = componentCalls;
  return {
    publish: [
      ...services.flatMap((service) => [callWildcard(service), controlWildcard(service)]),
      ...store.methods.flatMap((method) => {
        const unrouted = callSubject(store.service, method);
        return [unrouted, `${unrouted}.*.*`];
      }),
      controlWildcard(store.service),
    ],
    subscribe: [inboxOf("component"), ownerWildcard],
  };
}

/** What only certain services write: the log, its snapshots and the probe have one kind of writer. */
const ownWrites: Readonly<Record<ServiceUser, readonly string[]>> = {
  "lease-store": [logWildcard, ownerWildcard, probeWildcard, ...snapshotWriting, auditWildcard],
  gateway: [auditWildcard, livenessWildcard],
  // Its replicas pass what operators ask of collection on to the one that collects, which answers them.
  identity: [
    callSubject(IdentityServiceDefinition.name, IdentityServiceDefinition.methods.collect.name, "collector"),
    controlWildcard(IdentityServiceDefinition.name),
    inboxOf("identity"),
  ],
  election: [],
  migration: [],
};

/**
 * Whose presence a service follows: the gateway and the election everyone's, the lease stores each other's. Gateways and
 * lease stores hear the owners' beats, the ones to find them, the others to judge each other; the election hears which
 * candidates are live.
 */
const ownReads: Readonly<Record<ServiceUser, readonly string[]>> = {
  "lease-store": [presenceWildcard("lease-store"), ownerWildcard],
  gateway: [presenceWildcard(), ownerWildcard],
  identity: [],
  election: [presenceWildcard(), livenessWildcard],
  migration: [],
};
