import { formatDuration } from "@tenure/kernel";
import type { DeploymentFacts, ServerFacts } from "./facts.ts";
import type { Finding, Mode, Severity } from "./finding.ts";
import { judgeNatsVersion, productionFloorText, type VersionVerdict } from "./nats-version.ts";

/** What is wrong with the servers: each one counts, because any of them may lead the log next. */
export function examineServers(facts: DeploymentFacts, mode: Mode): readonly Finding[] {
  if (facts.servers.kind === "unreadable") {
    return [...versionFindings([facts.connected], mode), unreadable(facts.servers.why, mode)];
  }
  const { servers, silent, clusterSize } = facts.servers;
  return [
    ...versionFindings(servers, mode),
    ...servers.flatMap(syncFinding),
    ...servers.flatMap(clockFinding),
    ...silent.map(silentFinding),
    ...clusterFinding(clusterSize, mode),
  ];
}

const versionTexts: Readonly<
  Record<Exclude<VersionVerdict, "production">, { severity: Severity; why: string; isFineInDevelopment?: true }>
> = {
  refused: {
    severity: "fatal",
    why: "before 2.10.23 two writers can both win one compare-and-set, or a killed server loses the stream",
  },
  faulty: {
    severity: "unsafe",
    why: "this line had faults in compare-and-set, durability or security until that release",
  },
  development: {
    severity: "unsafe",
    why: "2.10 no longer gets fixes",
    isFineInDevelopment: true,
  },
  unknown: { severity: "unsafe", why: "a version that cannot be read cannot be known to be sound" },
};

function versionFindings(servers: readonly { name: string; version: string }[], mode: Mode): readonly Finding[] {
  return servers.flatMap(({ name, version }) => {
    const verdict = judgeNatsVersion(version);
    if (verdict === "production") return [];
    const { severity, why, isFineInDevelopment } = versionTexts[verdict];
    if (isFineInDevelopment === true && mode === "development") return [];
    const what = `nats-server ${verdict === "unknown" ? `has version ${JSON.stringify(version)}` : version}`;
    return [
      { id: "server-version", severity, subject: `server ${name}`, what, why, fix: `run ${productionFloorText}` },
    ];
  });
}

function syncFinding({ name, jetStream }: ServerFacts): readonly Finding[] {
  if (jetStream === undefined || jetStream.syncAlways) return [];
  const every =
    jetStream.syncIntervalMs === undefined ? "at times" : `every ${formatDuration(jetStream.syncIntervalMs)}`;
  return [
    {
      id: "sync-policy",
      severity: "unsafe",
      subject: `server ${name}`,
      what: `JetStream syncs its files ${every}`,
      why: "a power cut loses writes that were acknowledged, and with them who holds a lease",
      fix: "set `sync_interval: always` in the server's jetstream block",
    },
  ];
}

/** Answers are up to two seconds old when they are looked at, and clocks that differ less confuse nobody. */
const clockToleranceMs = 5_000;

function clockFinding({ clockAheadMs = 0, name }: ServerFacts): readonly Finding[] {
  if (Math.abs(clockAheadMs) <= clockToleranceMs) return [];
  const off = `${formatDuration(Math.round(Math.abs(clockAheadMs)))} ${clockAheadMs > 0 ? "ahead of" : "behind"}`;
  return [
    {
      id: "server-clock",
      severity: "advice",
      subject: `server ${name}`,
      what: `its wall clock is ${off} that of the checking service`,
      why: "no decision reads a wall clock, but logs and histories of the two cannot be laid side by side",
      fix: "let NTP set the clocks of all machines",
    },
  ];
}

function silentFinding({ name, isOffline }: { name: string; isOffline: boolean }): Finding {
  return {
    id: "server-silent",
    // One server that is down is what three are for: services must be able to start meanwhile.
    severity: isOffline ? "advice" : "unsafe",
    subject: `server ${name}`,
    what: isOffline ? "is down" : "is up but did not answer through the system account",
    why: "its version and settings could not be checked",
    fix: isOffline ? "bring it back" : "check its system account and its load",
  };
}

function clusterFinding(clusterSize: number, mode: Mode): readonly Finding[] {
  if (mode === "development" || clusterSize >= 3) return [];
  return [
    {
      id: "cluster-size",
      severity: "unsafe",
      subject: "servers",
      what: `JetStream runs on ${clusterSize} server${clusterSize === 1 ? "" : "s"}`,
      why: "with fewer than three servers the loss of one stops every grant and may lose the log",
      fix: "run three NATS servers in one cluster, or use --mode development",
    },
  ];
}

function unreadable(why: string, mode: Mode): Finding {
  return {
    id: "servers-unreadable",
    severity: mode === "production" ? "unsafe" : "advice",
    subject: "servers",
    what: `the servers' versions and settings cannot be read (${why})`,
    why: "what cannot be read may be unsafe: only the server that this process is connected to is known",
    fix: "give the seed file of a system-account user with --nats-system-nkey-file",
  };
}
