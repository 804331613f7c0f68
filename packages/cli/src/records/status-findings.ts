import { DoctorFinding, type ServiceGroup, Severity, type SystemServiceStatusResponse } from "@tenure/contracts";

/** A replica that is this many messages of the log behind does not keep up. */
const mostLag = 1_000n;

/** What the system's status says, as a check of the deployment: who serves, versions, lag, alarms. */
export function statusFindings({ alarms, services }: SystemServiceStatusResponse): readonly DoctorFinding[] {
  return [
    ...services.map(serviceFinding),
    versionFinding(services),
    lagFinding(services),
    ...alarms.map(({ message, name, severity, subject }) =>
      DoctorFinding.fromPartial({ check: name, severity, subject, what: message }),
    ),
  ];
}

function serviceFinding({ instances, notReadyReasons, ready, service }: ServiceGroup): DoctorFinding {
  const count = `${instances.filter((instance) => instance.ready).length} of ${instances.length} instances are ready`;
  const finding = { check: "SERVICE_READY", subject: service };
  if (ready) return DoctorFinding.fromPartial({ ...finding, severity: Severity.OK, what: count });
  return DoctorFinding.fromPartial({
    ...finding,
    severity: Severity.UNSAFE,
    what: `${count}: ${notReadyReasons.join("; ")}`,
    why: "what it does is not done",
    fix: "look at its log",
  });
}

function versionFinding(services: readonly ServiceGroup[]): DoctorFinding {
  const versions = new Set(services.flatMap(({ instances }) => instances.map(({ version }) => version)));
  const what = [...versions].toSorted().join(", ");
  const finding = { check: "SERVICE_VERSIONS", subject: "services", what };
  if (versions.size <= 1) return DoctorFinding.fromPartial({ ...finding, severity: Severity.OK });
  const why = "neighbouring versions work together, but not for ever";
  return DoctorFinding.fromPartial({ ...finding, severity: Severity.ADVICE, why, fix: "finish the upgrade" });
}

function lagFinding(services: readonly ServiceGroup[]): DoctorFinding {
  const lags = services.flatMap(({ instances }) =>
    instances.flatMap(({ partitions }) => partitions.map(({ lag }) => lag)),
  );
  const most = lags.reduce((largest, lag) => (lag > largest ? lag : largest), 0n);
  const finding = {
    check: "REPLICA_LAG",
    subject: "lease-store",
    what: `replicas are at most ${most} messages behind`,
  };
  if (most <= mostLag) return DoctorFinding.fromPartial({ ...finding, severity: Severity.OK });
  const why = "a replica that is behind answers reads late and takes partitions over slowly";
  return DoctorFinding.fromPartial({
    ...finding,
    severity: Severity.WARNING,
    why,
    fix: "look at its load and its disk",
  });
}
