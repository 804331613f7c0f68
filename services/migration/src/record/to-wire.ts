import {
  ControllerVerdict,
  controllerPlacements,
  DocumentFinding,
  leaseKeyToWire,
  MigrationAlarm,
  MigrationAlarmKind,
  MigrationStep,
  RunningPeriod,
  termEndReasons,
  timestampFromMs,
  type MigrationParticipant as WireParticipant,
} from "@tenure/contracts";
import type { LeaseKey } from "@tenure/core";
import type { Alarm, AlarmKind, Finding, Period, Step, Verdict } from "@tenure/migration-rules";

const alarmKinds: Readonly<Record<AlarmKind, MigrationAlarmKind>> = {
  disagreement: MigrationAlarmKind.DISAGREEMENT,
  orphaned: MigrationAlarmKind.ORPHANED,
  overlap: MigrationAlarmKind.OVERLAP,
  doubleRun: MigrationAlarmKind.DOUBLE_RUN,
  tooManyLocks: MigrationAlarmKind.TOO_MANY_LOCKS,
};

/** An alarm with the participants as they reported. */
export function alarmToWire(
  { controller, kind, message, participants }: Alarm,
  wireOf: (participant: Alarm["participants"][number]) => WireParticipant | undefined,
  sinceMs: number | undefined,
): MigrationAlarm {
  return MigrationAlarm.fromPartial({
    kind: alarmKinds[kind],
    controller,
    participants: participants.flatMap((participant) => wireOf(participant) ?? []),
    message,
    ...(sinceMs !== undefined && { since: timestampFromMs(sinceMs) }),
  });
}

/** A verdict on one controller. */
export function verdictToWire({ controller, isRefused, lock, message, placement }: Verdict): ControllerVerdict {
  return ControllerVerdict.fromPartial({
    controller,
    placement: controllerPlacements.toWire[placement],
    ...(lock !== undefined && { lease: leaseKeyToWire(lock) }),
    refused: isRefused,
    message,
  });
}

/** A finding about a document. */
export function findingToWire({ isWarning, ...finding }: Finding): DocumentFinding {
  return DocumentFinding.fromPartial({ ...finding, warning: isWarning });
}

/** A step of a plan. */
export function stepToWire({ action, blockedBy }: Step): MigrationStep {
  return MigrationStep.fromPartial({ action, blockedBy: [...blockedBy] });
}

/** A time during which an instance could run a controller. */
export function periodToWire(controller: string, lease: LeaseKey, period: Period): RunningPeriod {
  const { endReason, from, holder, participant, to, token } = period;
  return RunningPeriod.fromPartial({
    controller,
    component: participant?.component ?? "",
    instance: holder,
    version: participant?.version ?? "",
    token,
    lease: leaseKeyToWire(lease),
    fromRevision: from.sequence,
    from: timestampFromMs(from.wallMs),
    ...(to !== undefined && { toRevision: to.sequence, to: timestampFromMs(to.wallMs) }),
    ...(endReason !== undefined && { endReason: termEndReasons.toWire[endReason] }),
  });
}
