import { type MigrationParticipant, reportToWire } from "@tenure/contracts";
import { parseVersion } from "@tenure/core";
import {
  adviceOn,
  controllerLeaseOf,
  digestOf,
  digestOfAll,
  lockOf,
  type MigrationConfiguration,
  participantOf,
  type Release,
  tooManyLocks,
} from "@tenure/migration-rules";
import type { CoordinatedOptions } from "../coordinated/index.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { type PlannedCampaign, planCampaign } from "../lead/campaign.ts";
import { type LeaseName, leaseNameOf, showLease } from "../term/lease-name.ts";
import { optionError } from "../timing/duration-input.ts";
import { type Assignment, assign } from "./assignment.ts";
import type { ControllerManagerOptions } from "./manager-options.ts";

/** A manager whose options were checked. */
export interface ManagerPlan {
  readonly primary: LeaseName;
  /** What becomes of each controller. */
  readonly assignments: readonly Assignment[];
  /** How each lock is held, by `namespace/name`: the primary first. */
  readonly locks: ReadonlyMap<string, PlannedCampaign>;
  /** How each controller's own lease is held, by the controller's name. */
  readonly controllers: ReadonlyMap<string, PlannedCampaign>;
  /** What is legal and yet not what one wants, such as more than two migration locks; one sentence each. */
  readonly warnings: readonly string[];
  /** What the migration service is told; `tokens` are those of the controllers that run. */
  participant(tokens: ReadonlyMap<string, bigint>): MigrationParticipant;
}

/** Checks the options of a manager; throws INVALID_ARGUMENT. */
export function planManager(
  context: ClientContext,
  options: ControllerManagerOptions,
  names: readonly string[],
): ManagerPlan {
  const { coordinated, exitOnLoss: _exit, lease, migration = [], name, onEvent: _tell, version, ...timing } = options;
  const release = { component: name, version };
  const primary = context.leaseName(lease);
  const configurations = "controllerLeaders" in migration ? [migration] : migration;
  checkRelease(release, configurations);
  const participating = { instance: context.holder, release, primary: showLease(primary), configurations };
  const participant = participantOf(participating, names);
  const assignments = assign(participant, configurations);
  const standing = coordinated === undefined || coordinated === false ? undefined : candidate(coordinated, version);
  const ownDigest = digestOfAll(configurations);
  const planLock = (lock: LeaseName, configurationDigest: Uint8Array): [string, PlannedCampaign] => {
    const participant = { ...release, configurationDigest };
    return [showLease(lock), planCampaign(context, lock, { ...timing, coordinated: standing, participant })];
  };
  const planController = ({ controller, lock = primary }: Assignment): [string, PlannedCampaign] => {
    const own = context.leaseName(controllerLeaseOf(controller, primary.namespace));
    const participant = { ...release, configurationDigest: ownDigest };
    return [controller, planCampaign(context, own, { ...timing, participant, value: showLease(lock) })];
  };
  const wanted = new Set(assignments.map(({ lock }) => lock?.name));
  const locks = configurations
    .filter((one) => wanted.has(one.name))
    .map((one) => planLock(leaseNameOf(lockOf(one, primary.namespace), undefined), digestOf(one)));
  return {
    primary,
    assignments,
    locks: new Map([planLock(primary, ownDigest), ...locks]),
    controllers: new Map(assignments.map(planController)),
    warnings: [
      ...[tooManyLocks(configurations.length)].filter((one) => one !== undefined),
      ...configurations.flatMap((one) => adviceOn(one.controllerLeaders).map((rule) => `${one.name}: ${rule}`)),
    ],
    participant: (tokens) => reportToWire(participant, ownDigest, tokens),
  };
}

function checkRelease({ version }: Release, configurations: readonly MigrationConfiguration[]): void {
  if (parseVersion(version) === undefined) {
    throw optionError("version", "must be a strict semantic version such as 1.22.0", version);
  }
  const names = configurations.map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw optionError("migration", "must have one configuration for each leaderName", twice);
}

function candidate(coordinated: true | Omit<CoordinatedOptions, "binaryVersion">, binaryVersion: string) {
  return { ...(coordinated === true ? {} : coordinated), binaryVersion };
}
