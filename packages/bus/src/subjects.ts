import { Fault, invalid } from "@tenure/kernel";

/**
 * The only place that spells a NATS subject. Every name that becomes a token is checked here, so that no name can turn
 * into a wildcard or reach another service's subjects.
 */

/** What one token may hold. Dots, wildcards, spaces and control characters would change what a subject means. */
const tokenPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns `name` when it may stand as one token of a subject, and throws INVALID_ARGUMENT otherwise. */
export function subjectToken(name: string, what = "name"): string {
  if (tokenPattern.test(name)) return name;
  throw new Fault({
    code: "INVALID_ARGUMENT",
    reason: "SUBJECT_TOKEN_INVALID",
    message: `${what} ${JSON.stringify(name.slice(0, 140))} cannot be part of a subject: use 1 to 128 of A-Z a-z 0-9 _ -`,
    details: { violations: [{ field: what, rule: "must match [A-Za-z0-9_-]{1,128}", value: name.slice(0, 140) }] },
  });
}

function tokens(text: string, what: string): string {
  return text
    .split(".")
    .map((token) => subjectToken(token, what))
    .join(".");
}

function partitionToken(partition: number): string {
  if (Number.isSafeInteger(partition) && partition >= 0) return String(partition);
  throw invalid([{ field: "partition", rule: "must be a whole number from 0", value: String(partition) }]);
}

/** Where calls of one method go: `tenure.rpc.<Service>.<Method>`, followed by the route's tokens when there is one. */
export function callSubject(service: string, method: string, route?: string): string {
  const subject = `tenure.rpc.${subjectToken(service, "service")}.${subjectToken(method, "method")}`;
  return route === undefined ? subject : `${subject}.${tokens(route, "route")}`;
}

/** Where several calls of one service and route go in one message: no method has this name. */
export function batchSubject(service: string, route: string): string {
  return callSubject(service, "-", route);
}

/** Every call of one service, routed or not: for permissions. */
export function callWildcard(service: string): string {
  return `tenure.rpc.${subjectToken(service, "service")}.>`;
}

/** The route of a partition's owner: callers learn the epoch from the log, so a replaced owner gets no new calls. */
export function partitionRoute(partition: number, epoch: bigint | number): string {
  return `${partitionToken(partition)}.${subjectToken(String(epoch), "epoch")}`;
}

/** Where the caller steers a call (cancel, credit) of the server instance that runs it. */
export function controlSubject(service: string, instance: string): string {
  return `tenure.control.${subjectToken(service, "service")}.${subjectToken(instance, "instance")}`;
}

/** Where a call is cancelled whose server instance is not known yet: every instance listens. */
export function controlAllSubject(service: string): string {
  return controlSubject(service, "all");
}

/** Every control subject of one service: for permissions. */
export function controlWildcard(service: string): string {
  return `tenure.control.${subjectToken(service, "service")}.*`;
}

/** Where one instance of a service says each second that it is there. */
export function presenceSubject(service: string, instance: string): string {
  return `tenure.presence.${subjectToken(service, "service")}.${subjectToken(instance, "instance")}`;
}

/** The presence of every instance of every service, or of one service. */
export function presenceWildcard(service?: string): string {
  return service === undefined ? "tenure.presence.*.*" : `tenure.presence.${subjectToken(service, "service")}.*`;
}

/** Where one replica of the lease store says, many times a second, that it lives and what it owns. */
export function ownerSubject(instance: string): string {
  return `tenure.owner.${subjectToken(instance, "instance")}`;
}

/** The beats of every replica. */
export const ownerWildcard = "tenure.owner.*";

/** Where one gateway says each second, and at each close, which candidates beat on a live stream of it. */
export function livenessSubject(instance: string): string {
  return `tenure.liveness.${subjectToken(instance, "instance")}`;
}

/** The live candidates of every gateway. */
export const livenessWildcard = "tenure.liveness.*";

/** The log of one partition. */
export function logSubject(partition: number): string {
  return `tenure.log.${partitionToken(partition)}`;
}

/** The logs of all partitions. */
export const logWildcard = "tenure.log.*";

/** The record that says which life of the deployment this is. */
export const incarnationSubject = "tenure.incarnation";

/** Every audit entry. */
export const auditWildcard = "tenure.audit.>";

/** Where one instance races itself to prove that the server's compare-and-set works. */
export function probeSubject(instance: string): string {
  return `tenure.probe.${subjectToken(instance, "instance")}`;
}

/** Every probe subject. */
export const probeWildcard = "tenure.probe.*";

/** The inbox prefix of one NATS user, `_INBOX_<user>`: no user may read another's replies. */
export function inboxPrefixOf(user: string): string {
  return `_INBOX_${subjectToken(user, "user")}`;
}
