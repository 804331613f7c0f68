import { streamNames, streamRoles } from "@tenure/log";
import type { DeploymentFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";

/** A check that found nothing wrong. */
export interface Passed extends Pick<Finding, "id" | "subject"> {
  /** What was found. */
  readonly what: string;
}

/** A check by what it is called, and how the findings begin that say it failed. */
interface Check extends Passed {
  readonly failsAs?: string;
}

/** What was checked and is as it should be: one sees what a report without findings rests on. */
export function passedChecks(facts: DeploymentFacts, findings: readonly Finding[]): readonly Passed[] {
  const checks = [...serverChecks(facts), ...jetStreamChecks(facts), ...probeChecks(facts)];
  return checks
    .filter(
      ({ failsAs, id, subject }) =>
        !findings.some((finding) => finding.subject === subject && finding.id.startsWith(failsAs ?? id)),
    )
    .map(({ id, subject, what }) => ({ id, subject, what }));
}

function serverChecks({ connected, servers }: DeploymentFacts): readonly Check[] {
  const version = ({ name, version }: { readonly name: string; readonly version: string }): Check => ({
    id: "server-version",
    subject: `server ${name}`,
    what: `nats-server ${version}`,
  });
  if (servers.kind === "unreadable") return [version(connected)];
  const { clusterSize } = servers;
  return [
    ...servers.servers.flatMap((server): Check[] => {
      const subject = `server ${server.name}`;
      const { clockAheadMs, jetStream } = server;
      return [
        version(server),
        ...(jetStream === undefined ? [] : [{ id: "sync-policy", subject, what: "is on disk before it acknowledges" }]),
        ...(clockAheadMs === undefined
          ? []
          : [{ id: "server-clock", subject, what: "has about the time of this check" }]),
      ];
    }),
    { id: "cluster-size", subject: "servers", what: `JetStream runs on ${clusterSize}` },
  ];
}

function jetStreamChecks({ jetStream: { incarnation, state, streams } }: DeploymentFacts): readonly Check[] {
  if (state.kind !== "on") return [];
  const present = incarnation?.kind === "present" ? incarnation.incarnation : undefined;
  return [
    { id: "jetstream", subject: "JetStream", what: "is on and has a leader" },
    ...(present === undefined
      ? []
      : [{ id: "incarnation", subject: "incarnation", what: `${present.id} with ${present.partitions} partitions` }]),
    ...streamRoles.flatMap((role): Check[] => {
      if (streams[role] === undefined) return [];
      const subject = `stream ${streamNames[role]}`;
      return [{ id: "stream-settings", failsAs: "stream-", subject, what: "has the settings that it must have" }];
    }),
    ...(streams.log === undefined ? [] : logChecks(streams.log)),
  ];
}

function logChecks({ bytes, consumers, maxBytes, name }: NonNullable<DeploymentFacts["jetStream"]["streams"]["log"]>) {
  const subject = `stream ${name}`;
  return [
    { id: "log-size", subject, what: `holds ${bytes} of at most ${maxBytes} bytes` },
    { id: "log-consumers", subject, what: `is followed by ${consumers} consumers` },
  ];
}

function probeChecks({ probe }: DeploymentFacts): readonly Check[] {
  if (probe === undefined) return [];
  const what = `${probe.decidedRounds} rounds of compare-and-set had one winner each`;
  return [{ id: "compare-and-set", subject: `stream ${streamNames.probe}`, what }];
}
