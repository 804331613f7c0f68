import {
  controllerPlacements,
  MigrationParticipant,
  type ParticipantController,
  Reading,
  type LeaseKey as WireKey,
} from "@tenure/contracts";
import { checkLeaseKey, leaseKey, maximumNameBytes, parseVersion } from "@tenure/core";
import { controllerLeaseOf } from "@tenure/migration-rules";

/** Most controllers of one participant. */
const mostControllers = 1_000;

/** The participant of a report, as it is kept: every rule checked, and what only the server sets set. */
export function readParticipant(given: MigrationParticipant | undefined, principal: string): MigrationParticipant {
  const reading = new Reading();
  const wire = MigrationParticipant.fromPartial({ ...given, principal });
  const { configurationDigests, configurations, controllers, instance, participant } = wire;
  if (given === undefined) reading.reject("participant", "is required", "nothing");
  if (instance === "" || instance.length > maximumNameBytes) {
    reading.reject(
      "participant.instance",
      `must be 1 to ${maximumNameBytes} bytes`,
      JSON.stringify(instance.slice(0, 80)),
    );
  }
  if ((participant?.component ?? "") === "") reading.reject("participant.participant.component", "is required", '""');
  if (parseVersion(participant?.version ?? "") === undefined) {
    const rule = "must be a strict semantic version";
    reading.reject("participant.participant.version", rule, JSON.stringify(participant?.version ?? ""));
  }
  checkKey(reading, "participant.primary", wire.primary);
  if (configurationDigests.length !== configurations.length) {
    const rule = `must have one for each of the ${configurations.length} configurations`;
    reading.reject("participant.configuration_digests", rule, String(configurationDigests.length));
  }
  if (controllers.length > mostControllers) {
    reading.reject("participant.controllers", `must be at most ${mostControllers}`, String(controllers.length));
  }
  controllers.slice(0, mostControllers).forEach((controller, place) => {
    checkController(reading, `participant.controllers[${place}]`, controller, wire.primary?.namespace ?? "");
  });
  const refusal = reading.refusal();
  if (refusal !== undefined) throw refusal;
  return wire;
}

function checkController(reading: Reading, field: string, controller: ParticipantController, namespace: string): void {
  const { lease, name, placement } = controller;
  if (checkLeaseKey(controllerLeaseOf(name, namespace || "n")).length > 0) {
    reading.reject(`${field}.name`, "must be a DNS-1123 subdomain", JSON.stringify(name.slice(0, 80)));
  }
  const kind = controllerPlacements.fromWire[placement];
  if (kind === undefined)
    reading.reject(`${field}.placement`, "must be NON_MIGRATED, MIGRATED or UNOWNED", String(placement));
  if (kind !== "unowned") checkKey(reading, `${field}.lease`, lease);
}

function checkKey(reading: Reading, field: string, key: WireKey | undefined): void {
  if (key === undefined) reading.reject(field, "is required", "nothing");
  else reading.rejectAll(checkLeaseKey(leaseKey(key.namespace, key.name), field));
}
