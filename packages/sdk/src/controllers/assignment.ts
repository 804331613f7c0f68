import { lockOf, type MigrationConfiguration, placementOf, type Release } from "@tenure/migration-rules";
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

/** Who places its controllers. */
export interface Placing {
  readonly release: Release;
  readonly primary: LeaseName;
  readonly configurations: readonly MigrationConfiguration[];
}

/** Where each controller of a component runs. A controller that two configurations name is refused. */
export function assign(placing: Placing, controllers: readonly string[]): readonly Assignment[] {
  const { configurations, primary, release } = placing;
  return controllers.map((controller) => {
    refuseOverlap(configurations, controller);
    const placed = placementOf(configurations, release, controller);
    if (placed.kind === "nonMigrated") return { controller, placement: placed.kind, lock: primary };
    if (placed.kind === "unowned") return { controller, placement: placed.kind, lock: undefined };
    return { controller, placement: placed.kind, lock: lockBeside(primary, placed.configuration) };
  });
}

/** The lock of a configuration: a lease beside the primary one. */
export function lockBeside(primary: LeaseName, configuration: MigrationConfiguration): LeaseName {
  const lock = leaseNameOf(lockOf(configuration, primary.namespace), undefined);
  if (lock.name !== primary.name) return lock;
  throw optionError("migration", "must have a leaderName that is not the primary lock's", lock.name);
}

function refuseOverlap(configurations: readonly MigrationConfiguration[], controller: string): void {
  const locks = configurations
    .filter(({ controllerLeaders }) => controllerLeaders.some(({ name }) => name === controller))
    .map(({ name }) => name);
  if (locks.length < 2) return;
  throw optionError("migration", `must name controller ${controller} under one lock only`, locks.join(" and "));
}
