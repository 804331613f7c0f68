import type { Bus } from "@tenure/bus";
import { type Clock, Fault } from "@tenure/kernel";
import { collectFacts } from "./collect.ts";
import { examine } from "./examine.ts";
import type { DeploymentFacts } from "./facts.ts";
import { type Finding, findingText, findingWord, type Mode, stops } from "./finding.ts";

/** The part of a logger that the check needs. */
export interface FindingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What the boot check is given. */
export interface BootCheckInput {
  readonly bus: Bus;
  /** A connection of a system-account user; without one, the servers' settings count as unreadable. */
  readonly systemBus: Bus | undefined;
  readonly mode: Mode;
  readonly log: FindingLog;
  /** Whether to race the compare-and-set probe. */
  readonly probe: boolean;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Refuses a deployment that is not safe to run on: waits, bounded, until JetStream has a leader, logs every finding,
 * and throws when one stops a service in this mode. Creates and changes nothing but the probe's own messages.
 */
export async function bootCheck(input: BootCheckInput): Promise<void> {
  const { bus, systemBus, mode, log, probe, clock, signal } = input;
  const facts = await collectFacts(bus, systemBus, {
    probe,
    ...(clock === undefined ? {} : { clock }),
    ...(signal === undefined ? {} : { signal }),
  });
  const findings = examine(facts, mode);
  for (const finding of findings) logFinding(log, finding, mode);
  if (findings.length === 0) log.info({ servers: serverNames(facts) }, "the NATS deployment is sound");
  const fault = stopFault(findings, mode);
  if (fault !== undefined) throw fault;
}

/** Who was examined, as `name version`. */
function serverNames({ servers, connected }: DeploymentFacts): readonly string[] {
  if (servers.kind === "unreadable") return [`${connected.name} ${connected.version}`];
  return servers.servers.map(({ name, version }) => `${name} ${version}`);
}

function logFinding(log: FindingLog, finding: Finding, mode: Mode): void {
  const { id, severity, subject, what, why, fix } = finding;
  const fields = { finding: id, severity, subject, why, fix };
  const message = `${subject}: ${what}`;
  if (stops(finding, mode)) log.error(fields, message);
  else if (severity === "advice") log.info(fields, message);
  else log.warn(fields, message);
}

/** The fault that keeps a service from starting, naming the worst finding and counting the others; or none. */
export function stopFault(findings: readonly Finding[], mode: Mode): Fault | undefined {
  const stopping = findings.filter((finding) => stops(finding, mode));
  const [worst] = stopping;
  if (worst === undefined) return undefined;
  const others = stopping.length - 1;
  const more = others === 0 ? "" : ` (and ${others} more finding${others === 1 ? "" : "s"} in the log)`;
  return new Fault({
    // A cluster without a leader may get one: whoever restarts services may try again.
    code: worst.id === "jetstream-leaderless" ? "UNAVAILABLE" : "FAILED_PRECONDITION",
    reason: findingWord(worst),
    message: `${findingText(worst)}${more}`,
    details: { attributes: { findings: stopping.map((finding) => finding.id).join(",") } },
  });
}
