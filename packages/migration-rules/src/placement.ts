import { isWithin } from "@tenure/core";
import { anyComponent, type ControllerLeader, type MigrationConfiguration } from "./configuration.ts";

/** A release of a component. */
export interface Release {
  readonly component: string;
  /** A strict semantic version; one that is not matches only configurations without a range. */
  readonly version: string;
}

/** What a component does with a controller: runs it under its primary lock, under a migration lock, or not at all. */
export type Placement =
  | { readonly kind: "nonMigrated" }
  | { readonly kind: "migrated" | "unowned"; readonly configuration: MigrationConfiguration };

/** Where a controller belongs for a release of a component (statement 109). Names match exactly. */
export function placementOf(
  configurations: readonly MigrationConfiguration[],
  release: Release,
  controller: string,
): Placement {
  for (const configuration of configurations) {
    const leader = configuration.controllerLeaders.find(({ name }) => name === controller);
    if (leader !== undefined) return { kind: mayRun(leader, release) ? "migrated" : "unowned", configuration };
  }
  return { kind: "nonMigrated" };
}

/** Whether an entry lets a release run its controller. */
export function mayRun({ component, versionRange }: ControllerLeader, release: Release): boolean {
  const isNamed = component === anyComponent || component === release.component;
  return release.component !== "" && isNamed && isWithin(release.version, versionRange);
}
