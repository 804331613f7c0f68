import {
  LeaseServiceAcquireRequest,
  LeaseServiceReleaseRequest,
  type MigrationAlarm,
  MigrationAlarmKind,
  type MigrationParticipant,
  MigrationServiceApplyRequest,
  MigrationServiceReportRequest,
  type MigrationServiceReportResponse,
  MigrationServiceStatusRequest,
  ReadConsistency,
  reportToWire,
} from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import {
  digestOfAll,
  type MigrationConfiguration,
  parseMigrationDocument,
  participantOf,
} from "@tenure/migration-rules";
import type { Deployment } from "@tenure/testkit";

/** A release of a component at a place, and what it runs with. */
export interface Manager {
  readonly instance: string;
  readonly component: string;
  readonly version: string;
  readonly controllers: readonly string[];
  readonly configurations?: readonly MigrationConfiguration[];
}

/** A document of a lock, `controller: component` each. */
export function documentOf(leaderName: string, leaders: Readonly<Record<string, string>>): string {
  const entries = Object.entries(leaders).map(([name, component]) => `- name: ${name}\n  component: ${component}\n`);
  const head = "apiVersion: controllermanager.config.k8s.io/v1\nkind: LeaderMigrationConfiguration\n";
  return `${head}leaderName: ${leaderName}\ncontrollerLeaders:\n${entries.join("")}`;
}

/** What a document means. */
export function meaningOf(text: string): MigrationConfiguration {
  const { configuration, findings } = parseMigrationDocument(text);
  if (configuration === undefined) throw new Error(JSON.stringify(findings));
  return configuration;
}

/** The fault that a call ends with. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const thrown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof Fault) return thrown;
  throw new Error("nothing was refused");
}

/** The name of a number of an enum. */
export function nameIn(names: Readonly<Record<string, number>>, number: number): string {
  return Object.entries(names).find(([, value]) => value === number)?.[0] ?? "";
}

/** An alarm in short: its kind, its controller, and the versions of both sides. */
export function shortAlarm({ controller, kind, participants }: MigrationAlarm): string {
  const versions = participants.map((one) => `${one.participant?.component} ${one.participant?.version}`);
  return [nameIn(MigrationAlarmKind, kind), controller, ...versions].filter((part) => part !== "").join(" | ");
}

/** A term that nobody renews lasts to the end of its test, also on a busy machine. */
const longTiming = {
  leaseDuration: { seconds: 120n },
  usableTerm: { seconds: 80n },
  renewInterval: { seconds: 2n },
  requestTimeout: { seconds: 4n },
};

/** Talks to the migration service and the lease store about one namespace. */
export class MigrationDesk {
  readonly namespace: string;
  readonly #deployment: Deployment;

  constructor(deployment: Deployment, namespace: string) {
    this.#deployment = deployment;
    this.namespace = namespace;
  }

  apply(document: string, more: Parameters<typeof MigrationServiceApplyRequest.fromPartial>[0] = {}) {
    const request = MigrationServiceApplyRequest.fromPartial({ namespace: this.namespace, document, ...more });
    return this.#deployment.migrations.apply(request);
  }

  status(name: string) {
    const read = { consistency: ReadConsistency.LINEARIZABLE };
    const request = MigrationServiceStatusRequest.fromPartial({ namespace: this.namespace, name, read });
    return this.#deployment.migrations.status(request);
  }

  /** Reports what a manager does by its own configurations. */
  report(manager: Manager, more: { readonly leaving?: boolean } = {}): Promise<MigrationServiceReportResponse> {
    const request = MigrationServiceReportRequest.fromPartial({ participant: this.participant(manager), ...more });
    return this.#deployment.migrations.report(request);
  }

  /** What a manager says of itself. */
  participant(manager: Manager): MigrationParticipant {
    const { component, configurations = [], controllers, instance, version } = manager;
    const participating = {
      instance,
      release: { component, version },
      primary: `${this.namespace}/${component}`,
      configurations,
    };
    return reportToWire(participantOf(participating, controllers), digestOfAll(configurations), new Map());
  }

  lease(name: string) {
    return { namespace: this.namespace, name };
  }

  /** Claims a lease as a manager does; the token. */
  async claim(name: string, { component, configurations = [], instance, version }: Manager): Promise<bigint> {
    const participant = { component, version, configurationDigest: digestOfAll(configurations) };
    const request = LeaseServiceAcquireRequest.fromPartial({
      claims: [{ lease: this.lease(name) }],
      claimant: { holder: instance, participant, timing: longTiming },
    });
    const { grants } = await this.#deployment.leases.acquire(request);
    return grants[0]?.hold?.token ?? 0n;
  }

  async release(name: string, token: bigint): Promise<void> {
    const items = [{ lease: this.lease(name), token }];
    await this.#deployment.leases.release(LeaseServiceReleaseRequest.fromPartial({ items }));
  }
}
