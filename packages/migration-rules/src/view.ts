import { type LeaseKey, namespaceOf } from "@tenure/core";
import { lockOf, type MigrationConfiguration } from "./configuration.ts";
import { mayRun, type Release } from "./placement.ts";

/** What a participant does with a controller by its own configuration. */
export type OwnPlacement = "nonMigrated" | "migrated" | "unowned";

/** One controller that a participant has. */
export interface OwnController {
  readonly name: string;
  readonly placement: OwnPlacement;
  /** The lock under which it runs it: its primary or a migration lock; undefined if unowned. */
  readonly lock: LeaseKey | undefined;
}

/** A controller manager that takes part, also when its own migration is off. */
export interface MigrationParticipant {
  readonly instance: string;
  readonly release: Release;
  /** The lock of its component; only its holder runs anything. */
  readonly primary: LeaseKey;
  readonly controllers: readonly OwnController[];
  /** Hexadecimal digests of the configurations that it runs with, by name. */
  readonly digests: ReadonlyMap<string, string>;
  /** Log position at which it joined. */
  readonly joinedRevision: bigint;
}

/** A configuration in force. */
export interface ConfigurationInForce {
  readonly configuration: MigrationConfiguration;
  readonly lock: LeaseKey;
  /** Hexadecimal. */
  readonly digest: string;
  readonly revision: bigint;
}

/** What is known of the migrations of one namespace. A controller's name means the same in all of it. */
export interface MigrationView {
  readonly namespace: string;
  /** Oldest first: where two name one controller, the first counts. */
  readonly inForce: readonly ConfigurationInForce[];
  readonly participants: readonly MigrationParticipant[];
  /** The instances that hold the controllers' own leases, by controller. */
  readonly runners: ReadonlyMap<string, string>;
  /** The participants' instances that hold their own primary or migration locks, by lock. */
  readonly holders: ReadonlyMap<LeaseKey, string>;
}

/** The namespace that a participant belongs to. */
export function namespaceOfParticipant({ primary }: Pick<MigrationParticipant, "primary">): string {
  return namespaceOf(primary);
}

/** The configuration in force that names a controller. */
export function ruling(view: MigrationView, controller: string): ConfigurationInForce | undefined {
  return view.inForce.find(({ configuration }) => leaderOf(configuration, controller) !== undefined);
}

/** Every controller that a configuration in force names or a participant has, in order of name. */
export function controllersOf(view: Pick<MigrationView, "inForce" | "participants">): readonly string[] {
  const named = view.inForce.flatMap(({ configuration }) => configuration.controllerLeaders.map(({ name }) => name));
  const had = view.participants.flatMap(({ controllers }) => controllers.map(({ name }) => name));
  return [...new Set([...named, ...had])].sort();
}

/** What the configuration in force wants of a release: to run the controller under the lock, or not at all. */
export function wanted({ configuration }: ConfigurationInForce, release: Release, controller: string): OwnPlacement {
  const leader = leaderOf(configuration, controller);
  if (leader === undefined) return "nonMigrated";
  return mayRun(leader, release) ? "migrated" : "unowned";
}

/** Whether a participant does with its controller what the configuration in force wants. */
export function agrees(force: ConfigurationInForce, participant: MigrationParticipant, own: OwnController): boolean {
  const { configuration, digest, lock } = force;
  if (own.placement !== wanted(force, participant.release, own.name)) return false;
  return own.placement !== "migrated" || (own.lock === lock && participant.digests.get(configuration.name) === digest);
}

/** A participant's own word on a controller; undefined if it has none of that name. */
export function ownOf({ controllers }: MigrationParticipant, controller: string): OwnController | undefined {
  return controllers.find(({ name }) => name === controller);
}

/** A configuration as it is in force in a namespace. */
export function inForceOf(
  configuration: MigrationConfiguration,
  namespace: string,
  digest: string,
  revision: bigint,
): ConfigurationInForce {
  return { configuration, lock: lockOf(configuration, namespace), digest, revision };
}

function leaderOf({ controllerLeaders }: MigrationConfiguration, controller: string) {
  return controllerLeaders.find(({ name }) => name === controller);
}
