import { ServiceAlarm, timestampFromMs } from "@tenure/contracts";
import type { MigrationDirectory } from "./migration-directory.ts";

/** More would not fit on a screen, and an announcement is sent every second. */
const mostAlarms = 20;

/** What is wrong with migrations, for the system's status: the first by namespace. */
export function serviceAlarms(directory: MigrationDirectory): ServiceAlarm[] {
  const all = directory.namespaces.flatMap((namespace) =>
    directory.stateOf(namespace).alarms.map((alarm) => ({ namespace, alarm })),
  );
  return all.slice(0, mostAlarms).map(({ namespace, alarm }) => {
    const { controller, kind, message } = alarm;
    const sinceMs = directory.alarmedSinceMs(namespace, alarm);
    return ServiceAlarm.fromPartial({
      name: `MIGRATION_${kind.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
      subject: controller === "" ? namespace : `${namespace}/${controller}`,
      message,
      guaranteeLost: kind === "doubleRun",
      ...(sinceMs === undefined ? {} : { since: timestampFromMs(sinceMs) }),
    });
  });
}
