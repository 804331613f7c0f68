import { nameOf } from "@tenure/core";
import type { MigrationConfiguration, MigrationParticipant } from "@tenure/migration-rules";
import { type LeaseName, leaseNameOf } from "../term/lease-name.ts";
import { optionError } from "../timing/duration-input.ts";

/** What a component does with one of its controllers, by its own configurations (statement 109). */
export interface Assignment {
  readonly controller: string;
  /** `nonMigrated` runs under the primary lock, `migrated` under a migration lock, `unowned` nowhere. */
  readonly placement: "nonMigrated" | "migrated" | "unowned";
  /** The lock it runs under; undefined if unowned. */
  readonly lock: LeaseName | undefined;
}

/** Where each controller of a component runs. A controller that two configurations name is refused. */
export function assign(
  { controllers, primary }: Pick<MigrationParticipant, "controllers" | "primary">,
  configurations: readonly MigrationConfiguration[],
): readonly Assignment[] {
  return controllers.map(({ lock, name, placement }) => {
    refuseOverlap(configurations, name);
    if (placement === "migrated" && lock === primary) {
      throw optionError("migration", "must have a leaderName that is not the primary lock's", nameOf(lock));
    }
    return { controller: name, placement, lock: lock === undefined ? lock : leaseNameOf(lock, undefined) };
  });
}

function refuseOverlap(configurations: readonly MigrationConfiguration[], controller: string): void {
  const locks = configurations
    .filter(({ controllerLeaders }) => controllerLeaders.some(({ name }) => name === controller))
    .map(({ name }) => name);
  if (locks.length < 2) return;
  throw optionError("migration", `must name controller ${controller} under one lock only`, locks.join(" and "));
}
