import { JetStreamApiError } from "@nats-io/jetstream";
import { PermissionViolationError } from "@nats-io/nats-core";
import type { Bus } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import { jetStreamErrorCodes as codes } from "./js-errors.ts";

/** The client's name for "nobody answered"; it does not export the class. */
function isNotEnabled(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === "JetStreamNotEnabled";
}

/** JetStream's own error number of whatever the client threw; undefined when the server did not answer with one. */
export function errorCodeOf(thrown: unknown): number | undefined {
  if (thrown instanceof JetStreamApiError) return thrown.code;
  if (isNotEnabled(thrown) && thrown.cause instanceof JetStreamApiError) return thrown.cause.code;
  return undefined;
}

/** What a JetStream error number means for whoever asked. */
interface Meaning {
  readonly code: "UNAVAILABLE" | "FAILED_PRECONDITION" | "RESOURCE_EXHAUSTED";
  readonly reason: string;
  readonly advice: string;
}

const noLeader: Meaning = {
  code: "UNAVAILABLE",
  reason: "JETSTREAM_UNAVAILABLE",
  advice: "check that most NATS servers run, then try again",
};

const noSpace: Meaning = {
  code: "RESOURCE_EXHAUSTED",
  reason: "JETSTREAM_NO_SPACE",
  advice: "raise `max_file` in the servers' jetstream block, or free disk space",
};

const meanings: Readonly<Record<number, Meaning>> = {
  [codes.clusterNotAvailable]: noLeader,
  [codes.clusterNotLeader]: noLeader,
  // Peers that have not joined yet look like peers that do not exist: worth a wait, within the caller's bound.
  [codes.noSuitablePeers]: { ...noLeader, advice: "run as many NATS servers with JetStream as there are replicas" },
  [codes.replicasNotSupported]: {
    code: "FAILED_PRECONDITION",
    reason: "JETSTREAM_NOT_CLUSTERED",
    advice: "replicas need a cluster of NATS servers: use --replicas 1 --mode development on a single one",
  },
  [codes.insufficientResources]: noSpace,
  [codes.storageResourcesExceeded]: noSpace,
};

/** What the client threw, as a fault that says what to do. `doing` continues the words "cannot". */
export function toJetStreamFault(bus: Bus, thrown: unknown, doing: string): Fault {
  if (thrown instanceof Fault) return thrown;
  if (saysDisabled(bus, thrown)) return disabledFault(bus, thrown);
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (isPermissionViolation(thrown)) {
    return new Fault({
      code: "PERMISSION_DENIED",
      reason: "NATS_PERMISSION_DENIED",
      message: `cannot ${doing}: the NATS user lacks a permission (${text}); use the seed of this program's own user, and give the servers the accounts file of \`tenure-provision credentials\``,
      cause: thrown,
    });
  }
  const code = errorCodeOf(thrown);
  const meaning = code === undefined ? noLeader : meanings[code];
  if (meaning === undefined) {
    const message = `cannot ${doing}: JetStream answered "${text}" (error ${code})`;
    return new Fault({ code: "INTERNAL", reason: "JETSTREAM_REFUSED", message, cause: thrown });
  }
  const answer = code === undefined ? "no answer from a JetStream leader" : `JetStream answered "${text}"`;
  const message = `cannot ${doing}: ${answer}; ${meaning.advice}`;
  return new Fault({ code: meaning.code, reason: meaning.reason, message, cause: thrown });
}

function isPermissionViolation(thrown: unknown): boolean {
  if (thrown instanceof PermissionViolationError) return true;
  return thrown instanceof Error && thrown.cause instanceof PermissionViolationError;
}

/**
 * Whether the server itself says that JetStream is not there. The client calls every missing responder "not enabled";
 * only the server's own INFO tells a server without JetStream from a cluster without a leader, which passes by itself.
 */
function saysDisabled(bus: Bus, thrown: unknown): boolean {
  const code = errorCodeOf(thrown);
  if (code === codes.notEnabled || code === codes.notEnabledForAccount) return true;
  return isNotEnabled(thrown) && code === undefined && bus.nats.info?.jetstream !== true;
}

function disabledFault(bus: Bus, cause: unknown): Fault {
  const forAccount = errorCodeOf(cause) === codes.notEnabledForAccount;
  const where = forAccount ? "for this account" : `on NATS server ${bus.nats.info?.server_name ?? "(unnamed)"}`;
  const fix = forAccount ? "add `jetstream: enabled` to the account" : "add a `jetstream { store_dir: … }` block";
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "JETSTREAM_DISABLED",
    message: `JetStream is off ${where}: Tenure keeps its log there; ${fix} in the server's configuration and restart it`,
    cause,
  });
}
