import {
  type IncarnationReading,
  logAlarmShare,
  problemOf,
  type StreamFacts,
  type StreamRole,
  streamNames,
  streamRoles,
} from "@tenure/log";
import type { DeploymentFacts } from "./facts.ts";
import type { Finding, Mode } from "./finding.ts";

/** A setting that certain streams must have. */
interface StreamRule {
  readonly id: string;
  readonly roles: readonly StreamRole[];
  readonly isBroken: (stream: StreamFacts, mode: Mode) => boolean;
  readonly what: (stream: StreamFacts) => string;
  readonly why: string;
  readonly fix: string;
}

const records: readonly StreamRole[] = ["log", "snapshots", "incarnation"];
const kept: readonly StreamRole[] = ["log", "snapshots", "incarnation", "audit"];

/** Fewer copies than this cannot lose one and go on. */
const productionReplicas = 3;

const rules: readonly StreamRule[] = [
  {
    id: "stream-storage",
    roles: kept,
    isBroken: (stream) => stream.storage !== "file",
    what: (stream) => `is stored in ${stream.storage}`,
    why: "a restart of the server would lose it",
    fix: "move it to a stream with `storage: file` (storage cannot be changed in place)",
  },
  {
    id: "stream-replicas",
    roles: [...kept, "probe"],
    isBroken: (stream, mode) => mode === "production" && stream.replicas < productionReplicas,
    what: (stream) => `has ${stream.replicas} replica${stream.replicas === 1 ? "" : "s"}`,
    why: "with fewer than three the loss of one server stops every grant and may lose the log",
    fix: "set `num_replicas: 3`, or use --mode development",
  },
  {
    id: "stream-allow-direct",
    roles: records,
    isBroken: (stream) => stream.allowDirect,
    what: () => "allows direct reads",
    why: "direct reads answer with outdated messages for seconds after a failover",
    fix: "set `allow_direct: false`",
  },
  {
    id: "stream-deny-delete",
    roles: ["log", "incarnation", "audit"],
    isBroken: (stream) => !stream.denyDelete,
    what: () => "allows the deletion of single messages",
    why: "a hole in the log is a change that never happened to those who read later",
    fix: "set `deny_delete: true`",
  },
  {
    id: "stream-deny-purge",
    roles: ["incarnation", "audit"],
    isBroken: (stream) => !stream.denyPurge,
    what: () => "allows purge",
    why: "the record of what was done must not be emptied",
    fix: "set `deny_purge: true`",
  },
  {
    id: "stream-max-age",
    roles: records,
    isBroken: (stream) => stream.maxAgeMs > 0 || stream.allowMessageTtl,
    what: (stream) =>
      stream.maxAgeMs > 0 ? `drops messages after ${stream.maxAgeMs} ms` : "lets messages carry a time to live",
    why: "the server would forget by its own wall clock what is still in force",
    fix: "set `max_age: 0` and leave `allow_msg_ttl` off",
  },
  {
    id: "stream-mirror",
    roles: [...kept, "probe"],
    isBroken: (stream) => stream.hasMirror || stream.hasSources,
    what: (stream) => `is filled from another stream (${stream.hasMirror ? "mirror" : "sources"})`,
    why: "a copy lags without a bound and takes appends past the partition's owner",
    fix: "use a stream without `mirror` and `sources`",
  },
  {
    id: "stream-persist-mode",
    roles: kept,
    isBroken: (stream) => stream.persistMode === "async",
    what: () => "acknowledges before the message is on disk (`persist_mode: async`)",
    why: "it overrides `sync_interval: always` for this stream",
    fix: "move it to a stream with the default persist mode",
  },
  {
    id: "stream-discard",
    roles: records,
    isBroken: (stream) => stream.discard !== "new" || stream.retention !== "limits",
    what: (stream) => `drops old messages when it is full (discard ${stream.discard}, retention ${stream.retention})`,
    why: "a full log must refuse new changes, never forget old ones",
    fix: "set `discard: new` and `retention: limits`",
  },
];

/** What is wrong with the streams and the incarnation record. Empty while JetStream does not answer. */
export function examineStreams(facts: DeploymentFacts, mode: Mode): readonly Finding[] {
  const { streams, incarnation, state } = facts.jetStream;
  if (state.kind !== "on") return [];
  const problem = incarnationFinding(incarnation);
  if (Object.keys(streams).length === 0 && problem.length > 0) return problem;
  const perStream = streamRoles.flatMap((role) => {
    const stream = streams[role];
    if (stream !== undefined) return brokenRules(role, stream, mode);
    // A missing log or record stream is told by the incarnation's finding, which knows more.
    return problem.length > 0 && (role === "log" || role === "incarnation") ? [] : [missing(role)];
  });
  return [...problem, ...perStream, ...(streams.log === undefined ? [] : logFindings(streams.log))];
}

function incarnationFinding(reading: IncarnationReading | undefined): readonly Finding[] {
  if (reading === undefined || reading.kind === "present") return [];
  const { reason, what, why, fix } = problemOf(reading);
  const id = reason.toLowerCase().replaceAll("_", "-");
  return [{ id, severity: "fatal", subject: "incarnation", what, why, fix }];
}

function missing(role: StreamRole): Finding {
  return {
    id: "stream-missing",
    severity: "fatal",
    subject: `stream ${streamNames[role]}`,
    what: "does not exist",
    why: "services never create streams: an empty log would hand out fencing tokens again that were already used",
    fix: "run `tenure-provision init` once: it makes a new deployment, whose tokens begin above those of one that was lost",
  };
}

function brokenRules(role: StreamRole, stream: StreamFacts, mode: Mode): readonly Finding[] {
  return rules
    .filter((rule) => rule.roles.includes(role) && rule.isBroken(stream, mode))
    .map(({ id, what, why, fix }) => ({
      id,
      severity: "unsafe" as const,
      subject: `stream ${stream.name}`,
      what: what(stream),
      why,
      fix,
    }));
}

/** Every service that follows the log has one or two; what nobody reads any more is forgotten by the server in minutes. */
const mostConsumers = 1_000;

function logFindings(log: StreamFacts): readonly Finding[] {
  const { consumers, name } = log;
  if (consumers <= mostConsumers) return sizeFinding(log);
  return [
    ...sizeFinding(log),
    {
      id: "log-consumers",
      severity: "advice",
      subject: `stream ${name}`,
      what: `has ${consumers} consumers`,
      why: "each costs the server memory and work, and so many are more than services follow the log",
      fix: "look with `nats consumer report` for orphaned ones, and for a service that starts again and again",
    },
  ];
}

function sizeFinding({ name, bytes, maxBytes }: StreamFacts): readonly Finding[] {
  if (maxBytes === undefined) {
    return [
      {
        id: "log-size",
        severity: "advice",
        subject: `stream ${name}`,
        what: "has no size limit",
        why: "it can fill the disk, and a full disk can break every stream on it",
        fix: "set `max_bytes` well below the volume's size",
      },
    ];
  }
  if (bytes < maxBytes * logAlarmShare) return [];
  return [
    {
      id: "log-size",
      severity: "advice",
      subject: `stream ${name}`,
      what: `holds ${bytes} of at most ${maxBytes} bytes (${Math.floor((100 * bytes) / maxBytes)} %)`,
      why: "a full log refuses every change",
      fix: "check that snapshots and compaction run, or raise `max_bytes`",
    },
  ];
}
