import { leaseKey } from "@tenure/core";
import type { MigrationConfiguration } from "../configuration.ts";
import { digestOf } from "../digest.ts";
import { participantOf } from "../participant.ts";
import { type ConfigurationInForce, inForceOf, type MigrationParticipant, type MigrationView } from "../view.ts";

/** Where everything takes place. */
export const namespace = "kube-system";

/** A configuration: `controller: component` each, in any version. */
export function configuration(name: string, leaders: Readonly<Record<string, string>>): MigrationConfiguration {
  const controllerLeaders = Object.entries(leaders).map(([controller, component]) => ({
    name: controller,
    component,
    versionRange: "",
  }));
  return { name, apiVersion: "tenure.dev/v1", controllerLeaders };
}

/** A configuration in force. */
export function force(of: MigrationConfiguration, revision = 1n): ConfigurationInForce {
  return inForceOf(of, namespace, hex(of), revision);
}

/** A participant that runs with these configurations and does what they say. */
export function participant(
  release: string,
  controllers: readonly string[],
  configurations: readonly MigrationConfiguration[] = [],
  instance = release.replace(" ", "-"),
): MigrationParticipant {
  const [component = "", version = ""] = release.split(" ");
  const primary = leaseKey(namespace, component);
  const participating = { instance, release: { component, version }, primary, configurations };
  return { ...participantOf(participating, controllers), joinedRevision: 1n };
}

/** What is known: who takes part, what is in force, who runs what, and who holds which lock. */
export function view(
  participants: readonly MigrationParticipant[],
  inForce: readonly ConfigurationInForce[] = [],
  runners: Readonly<Record<string, string>> = {},
  holders: Readonly<Record<string, string>> = {},
): MigrationView {
  const joined = participants.map((one, place) => ({ ...one, joinedRevision: BigInt(place + 1) }));
  const held = new Map(Object.entries(holders).map(([lock, instance]) => [leaseKey(namespace, lock), instance]));
  return { namespace, inForce, participants: joined, runners: new Map(Object.entries(runners)), holders: held };
}

function hex(of: MigrationConfiguration): string {
  return Buffer.from(digestOf(of)).toString("hex");
}
