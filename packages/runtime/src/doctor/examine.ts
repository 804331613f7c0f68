import { type ProbeResult, streamNames } from "@tenure/log";
import { examineServers } from "./examine-servers.ts";
import { examineStreams } from "./examine-streams.ts";
import type { DeploymentFacts } from "./facts.ts";
import type { Finding, Mode, Severity } from "./finding.ts";

const order: readonly Severity[] = ["fatal", "unsafe", "advice"];

/** Judges a deployment, the worst first. Pure: the same facts and mode give the same findings. */
export function examine(facts: DeploymentFacts, mode: Mode): readonly Finding[] {
  const found = [
    ...examineInfrastructure(facts, mode),
    ...examineStreams(facts, mode),
    ...(facts.probe === undefined ? [] : examineProbe(facts.probe)),
  ];
  return worstFirst(found);
}

/** Judges only the servers and JetStream itself: what must be right before `init` may make the streams. */
export function examineInfrastructure(facts: DeploymentFacts, mode: Mode): readonly Finding[] {
  return worstFirst([...examineServers(facts, mode), ...examineJetStream(facts)]);
}

function worstFirst(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}

function examineJetStream({ jetStream: { state } }: DeploymentFacts): readonly Finding[] {
  if (state.kind === "on") return [];
  const isOff = state.kind === "off";
  return [
    {
      id: isOff ? "jetstream-off" : "jetstream-leaderless",
      severity: "fatal",
      subject: "JetStream",
      what: isOff ? `is off (${state.why})` : `has no leader (${state.why})`,
      why: "the log of every lease is kept there",
      fix: isOff
        ? "add a `jetstream { store_dir: … }` block to the server and `jetstream: enabled` to the account"
        : "bring most of the NATS servers up and check the routes between them",
    },
  ];
}

function examineProbe(probe: ProbeResult): readonly Finding[] {
  if (probe.passed) return [];
  const subject = `stream ${streamNames.probe}`;
  if (probe.doubleWins.length > 0) {
    return [
      {
        id: "compare-and-set",
        severity: "fatal",
        subject,
        what: `${probe.doubleWins.length} of ${probe.decidedRounds} compare-and-set rounds had more than one winner`,
        why: "two processes could both be granted one lease",
        fix: "upgrade every NATS server of the cluster; one old server is enough to break it",
      },
    ];
  }
  return [
    {
      id: "compare-and-set",
      severity: "unsafe",
      subject,
      what: `only ${probe.decidedRounds} of ${probe.rounds} compare-and-set rounds could be decided`,
      why: "the servers could not be shown to be sound",
      fix: "check the servers' health and load, then start again",
    },
  ];
}
