import { Alarm, type PartitionStatus, type ServiceStatus, Severity } from "@tenure/contracts";
import { type LogSize, logAlarmShare } from "@tenure/log";

/** What is wrong: what instances say, each thing once, and what only all of them together show. The worst first. */
export function systemAlarms(
  instances: readonly ServiceStatus[],
  partitions: readonly PartitionStatus[],
  log: LogSize | undefined,
): readonly Alarm[] {
  const alarms = [
    ...partitionAlarms(partitions),
    ...(log === undefined ? [] : storageAlarms(log)),
    ...instances.flatMap(({ alarms }) =>
      alarms.map(({ guaranteeLost, ...alarm }) =>
        Alarm.fromPartial({ ...alarm, severity: guaranteeLost ? Severity.UNSAFE : Severity.WARNING }),
      ),
    ),
  ];
  // Replicas of one service see the same.
  const once = new Map(alarms.toReversed().map((alarm) => [`${alarm.name} ${alarm.subject}`, alarm]));
  return [...once.values()].toReversed().toSorted((left, right) => right.severity - left.severity);
}

function partitionAlarms(partitions: readonly PartitionStatus[]): readonly Alarm[] {
  const unowned = partitions.filter(({ owner }) => owner === "");
  const halted = partitions.filter((partition) => partition.halted);
  return [
    ...raised(
      unowned,
      "PARTITIONS_UNOWNED",
      "no lease store owns them, so their leases are neither granted nor renewed",
    ),
    ...raised(halted, "PARTITIONS_HALTED", "their log went back or does not chain, so nothing is decided in them"),
  ];
}

function raised(partitions: readonly PartitionStatus[], name: string, what: string): readonly Alarm[] {
  if (partitions.length === 0) return [];
  const subject = `partitions ${partitions.map(({ partition }) => partition).join(", ")}`;
  const message = `${what}; look at the logs of lease-store, and run \`tenure doctor\``;
  return [Alarm.fromPartial({ name, subject, message, severity: Severity.UNSAFE })];
}

function storageAlarms({ bytes, limitBytes }: LogSize): readonly Alarm[] {
  if (limitBytes === undefined || bytes < limitBytes * logAlarmShare) return [];
  const message = `holds ${bytes} of at most ${limitBytes} bytes, and a full log refuses every change; check that snapshots and compaction run, or raise \`max_bytes\``;
  return [Alarm.fromPartial({ name: "LOG_STORAGE_HIGH", subject: "the log", message, severity: Severity.WARNING })];
}
