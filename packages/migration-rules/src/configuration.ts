import { type LeaseKey, leaseKey } from "@tenure/core";

/** Any component that takes part. */
export const anyComponent = "*";

/** Which component runs a controller under a migration lock. */
export interface ControllerLeader {
  /** The controller's canonical name. */
  readonly name: string;
  /** The component, or {@link anyComponent}. */
  readonly component: string;
  /** Versions of the component that may run it, such as `>=1.21.0 <1.23.0`; empty is every version. */
  readonly versionRange: string;
}

/** What a document says: the controllers of one migration lock. */
export interface MigrationConfiguration {
  /** The document's `leaderName`, which names the lock. */
  readonly name: string;
  readonly apiVersion: string;
  /** In the document's order, each controller once. */
  readonly controllerLeaders: readonly ControllerLeader[];
}

/** The lease that is the lock of a configuration. */
export function lockOf({ name }: Pick<MigrationConfiguration, "name">, namespace: string): LeaseKey {
  return leaseKey(namespace, name);
}

/**
 * The lease that is held, besides its lock, while a controller runs. Every component that has the controller takes the
 * same one, whatever its configuration, so no disagreement between configurations can run it twice.
 */
export function controllerLeaseOf(controller: string, namespace: string): LeaseKey {
  return leaseKey(namespace, `controller:${controller}`);
}

/** What the proposal calls the default: used when migration is on and no file is given. */
export const defaultMigrationConfiguration: MigrationConfiguration = {
  name: "cloud-provider-extraction-migration",
  apiVersion: "controllermanager.config.k8s.io/v1",
  controllerLeaders: ["route", "service", "cloud-node-lifecycle"].map((name) => ({
    name,
    component: anyComponent,
    versionRange: "",
  })),
};

/** More locks than the proposal recommends cost each component another lease to keep. */
export const recommendedLocks = 2;

/** The proposal's performance warning; undefined up to two locks. */
export function tooManyLocks(count: number): string | undefined {
  if (count <= recommendedLocks) return undefined;
  return `${count} migration locks: for performance no more than ${recommendedLocks} are recommended for a component`;
}

/** What is legal and yet not what one wants, one sentence each. */
export function adviceOn(leaders: readonly ControllerLeader[]): readonly string[] {
  if (leaders.length === 0) return ["names no controller: the lock would guard nothing"];
  const components = [...new Set(leaders.map(({ component }) => component))].filter((one) => one !== anyComponent);
  if (components.length < 2) return [];
  return [
    `one component holds the lock at a time: while one of ${components.join(", ")} does, the others' controllers run nowhere`,
  ];
}
