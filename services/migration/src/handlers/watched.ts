import { ChangeKind, MigrationEvent, type MigrationServiceWatchRequest } from "@tenure/contracts";
import { alarmKey } from "@tenure/migration-rules";
import { alarmsToWire, type MigrationContext } from "./migration-context.ts";

type Subject = NonNullable<MigrationEvent["subject"]>;

/** One thing that is watched, and what tells whether it changed. */
export interface Seen {
  readonly subject: Subject;
  readonly revision: bigint;
  readonly text: string;
}

/** Everything that a watch selects, by name. */
export function look(context: MigrationContext, { name, namespace }: MigrationServiceWatchRequest): Map<string, Seen> {
  const { directory, reader } = context;
  const seen = new Map<string, Seen>();
  const add = (key: string, subject: Subject, revision: bigint) => {
    const text = Buffer.from(MigrationEvent.encode(MigrationEvent.fromPartial({ subject })).finish()).toString(
      "base64",
    );
    seen.set(key, { subject, revision, text });
  };
  for (const place of namespace === "" ? directory.namespaces : [namespace]) {
    const { alarms, configurations, participants } = directory.stateOf(place);
    const named = configurations.filter(({ wire }) => name === "" || wire.name === name);
    const controllers = new Set(named.flatMap(({ wire }) => wire.controllerLeaders.map((leader) => leader.name)));
    for (const { inForce, wire } of named) {
      add(`configuration ${inForce.lock}`, { $case: "configuration", value: wire }, inForce.revision);
    }
    for (const { participant, revision, wire } of participants) {
      const isMeant =
        name === "" ||
        participant.digests.has(name) ||
        participant.controllers.some((one) => controllers.has(one.name));
      const { instance, primary } = participant;
      if (isMeant) add(`participant ${primary} ${instance}`, { $case: "participant", value: wire }, revision);
    }
    const meant = alarms.filter((alarm) => name === "" || alarm.controller === "" || controllers.has(alarm.controller));
    alarmsToWire(context, place, meant).forEach((value, index) => {
      const alarm = meant[index];
      if (alarm !== undefined) add(`alarm ${place} ${alarmKey(alarm)}`, { $case: "alarm", value }, reader.revision);
    });
  }
  return seen;
}

/** What happened between two looks. */
export function difference(
  before: ReadonlyMap<string, Seen>,
  now: ReadonlyMap<string, Seen>,
  revision: bigint,
): MigrationEvent[] {
  const events: MigrationEvent[] = [];
  for (const [key, one] of now) {
    const known = before.get(key);
    if (known === undefined) events.push(event(ChangeKind.ADDED, one));
    else if (known.text !== one.text) events.push(event(ChangeKind.CHANGED, one));
  }
  for (const [key, one] of before) if (!now.has(key)) events.push(event(ChangeKind.REMOVED, { ...one, revision }));
  return events;
}

/** A thing as an event. */
export function event(kind: ChangeKind, { revision, subject }: Seen): MigrationEvent {
  return MigrationEvent.fromPartial({ kind, subject, revision });
}
