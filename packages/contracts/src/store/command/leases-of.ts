import type { Command, LeaseKey } from "@tenure/core";

/** The leases that a command is about, in its order; what it is routed by. Empty for an owner's own commands. */
export function leasesOf(command: Command): readonly LeaseKey[] {
  switch (command.kind) {
    case "acquire":
      return command.claims.map(({ lease }) => lease);
    case "renew":
    case "release":
      return command.items.map(({ lease }) => lease);
    case "ackCandidates":
      return command.answers.map(({ lease }) => lease);
    case "removeTombstones":
      return command.leases;
    default:
      return "lease" in command ? [command.lease] : [];
  }
}
