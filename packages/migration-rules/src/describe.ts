import type { MigrationParticipant, OwnController } from "./view.ts";

/** A participant for people: `cloud-controller-manager 1.22.0 (node-2)`. */
export function describe({ instance, release }: MigrationParticipant): string {
  return `${release.component} ${release.version} (${instance})`;
}

/** What a participant does with a controller, for people. */
export function describePlacement(own: OwnController | undefined): string {
  if (own === undefined) return "does not have it";
  return own.placement === "unowned" ? "leaves it to another component" : `runs it under ${own.lock}`;
}
