import { type LeaseKey, namespaceOf } from "@tenure/core";
import { lockOf, type MigrationConfiguration } from "./configuration.ts";
import { digestOf } from "./digest.ts";
import { placementOf, type Release } from "./placement.ts";
import type { MigrationParticipant } from "./view.ts";

/** Who takes part, and with what. Migration locks are in the namespace of the primary one. */
export interface Participating {
  readonly instance: string;
  readonly release: Release;
  readonly primary: LeaseKey;
  /** One per migration lock; empty when migration is off. */
  readonly configurations: readonly MigrationConfiguration[];
}

/** A component and its controllers, each placed by the component's own configurations (statement 109). */
export function participantOf(
  { configurations, instance, primary, release }: Participating,
  controllers: readonly string[],
): Omit<MigrationParticipant, "joinedRevision"> {
  return {
    instance,
    release,
    primary,
    controllers: controllers.map((name) => {
      const placed = placementOf(configurations, release, name);
      if (placed.kind === "nonMigrated") return { name, placement: placed.kind, lock: primary };
      const lock = placed.kind === "migrated" ? lockOf(placed.configuration, namespaceOf(primary)) : undefined;
      return { name, placement: placed.kind, lock };
    }),
    digests: new Map(configurations.map((one) => [one.name, Buffer.from(digestOf(one)).toString("hex")])),
  };
}
