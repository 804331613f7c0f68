import type { Bus } from "@tenure/bus";
import { type Clock, Fault, type Random } from "@tenure/kernel";
import { type CreatedIncarnation, createStreams } from "@tenure/log";
import {
  collectFacts,
  examineInfrastructure,
  type Finding,
  findingText,
  type Mode,
  productVersion,
  stopFault,
  stops,
} from "@tenure/runtime";

/** What `init` works with. */
export interface InitializeInput {
  readonly bus: Bus;
  /** A connection of a system-account user, through which every server is checked. */
  readonly systemBus?: Bus | undefined;
  readonly mode: Mode;
  /** Copies of every stream; 3 in production and 1 in development when absent. */
  readonly replicas?: number | undefined;
  /** 8 when absent. */
  readonly partitions?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of every finding that does not stop it, one line each. */
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Fewer copies cannot lose one and go on. */
const productionReplicas = 3;

/** How long servers that are still joining are waited for. */
const joinBoundMs = 30_000;
const joinStepMs = 500;

/** Findings that pass by themselves while a cluster starts. */
const passing: ReadonlySet<string> = new Set(["cluster-size", "server-silent", "jetstream-leaderless"]);

/**
 * Makes a new deployment's streams and incarnation record, or returns those that exist. The servers are judged first,
 * by the rules that a service starts with: on servers that would be refused nothing is created.
 */
export async function initialize(input: InitializeInput): Promise<CreatedIncarnation> {
  const { bus, mode, partitions, clock, random, signal } = input;
  const replicas = input.replicas ?? (mode === "production" ? productionReplicas : 1);
  if (mode === "production" && replicas < productionReplicas) throw tooFewReplicas(replicas);
  for (const finding of await waitForServers(input)) input.report(findingText(finding));
  return await createStreams(bus, {
    replicas,
    createdBy: productVersion,
    clock,
    random,
    ...(partitions === undefined ? {} : { partitions }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Waits, bounded, for servers that are still joining; throws what stops a service. Gives the rest of the findings. */
async function waitForServers({ bus, systemBus, mode, clock, signal }: InitializeInput): Promise<readonly Finding[]> {
  const startedAt = clock.now();
  const options = { probe: false, clock, ...(signal === undefined ? {} : { signal }) };
  for (;;) {
    const findings = examineInfrastructure(await collectFacts(bus, systemBus, options), mode);
    const fault = stopFault(findings, mode);
    if (fault === undefined) return findings;
    const mayPass = findings.every((finding) => !stops(finding, mode) || passing.has(finding.id));
    if (!mayPass || clock.now() - startedAt > joinBoundMs) throw fault;
    await clock.sleep(joinStepMs, signal);
  }
}

function tooFewReplicas(replicas: number): Fault {
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "TOO_FEW_REPLICAS",
    message: `production needs ${productionReplicas} replicas of every stream and ${replicas} was asked for: use --replicas 3, or --mode development`,
  });
}
