import type { ProbeResult, StreamFacts, StreamRole } from "@tenure/log";
import { describe, expect, it } from "vitest";
import { examine, examineInfrastructure } from "./examine.ts";
import type { DeploymentFacts, ServerFacts } from "./facts.ts";
import { type Finding, findingText, stops } from "./finding.ts";
import { passedChecks } from "./passed.ts";

const server = (name: string, version = "2.15.1"): ServerFacts => ({
  name,
  version,
  jetStream: { storeDirectory: "/data", syncAlways: true },
});

const stream = (name: string, changes: Partial<StreamFacts> = {}): StreamFacts => ({
  name,
  subjects: [],
  storage: "file",
  replicas: 3,
  retention: "limits",
  discard: "new",
  denyDelete: true,
  denyPurge: true,
  allowDirect: false,
  allowMessageTtl: false,
  maxAgeMs: 0,
  maxBytes: 1000,
  hasMirror: false,
  hasSources: false,
  persistMode: "",
  madeWithFirstSequence: 1n,
  lastSequence: 0n,
  messages: 0,
  bytes: 0,
  consumers: 5,
  ...changes,
});

const streams: Record<StreamRole, StreamFacts> = {
  log: stream("TENURE_LOG"),
  snapshots: stream("OBJ_TENURE_SNAPSHOTS"),
  audit: stream("TENURE_AUDIT", { discard: "old", maxAgeMs: 1 }),
  probe: stream("TENURE_PROBE", { discard: "old", maxAgeMs: 1 }),
  incarnation: stream("TENURE_INCARNATION"),
};

const incarnation = { id: "a", createdAtMicros: 1n, partitions: 8, firstSequence: 1n, formatVersion: 1 };
const probe: ProbeResult = {
  rounds: 50,
  contenders: 6,
  decidedRounds: 50,
  acked: 50,
  doubleWins: [],
  refusals: {},
  passed: true,
};

const sound: DeploymentFacts = {
  connected: { name: "a", version: "2.15.1" },
  servers: { kind: "read", servers: [server("a"), server("b"), server("c")], silent: [], clusterSize: 3 },
  jetStream: {
    server: { name: "a", version: "2.15.1" },
    state: { kind: "on" },
    streams,
    incarnation: { kind: "present", incarnation },
  },
  probe,
};

const withStreams = (changes: Partial<Record<StreamRole, StreamFacts | undefined>>): DeploymentFacts => {
  const kept = Object.entries({ ...streams, ...changes }).filter(([, facts]) => facts !== undefined);
  return { ...sound, jetStream: { ...sound.jetStream, streams: Object.fromEntries(kept) } };
};
const withLog = (changes: Partial<StreamFacts>): DeploymentFacts => withStreams({ log: stream("TENURE_LOG", changes) });
const withServers = (...servers: ServerFacts[]): DeploymentFacts => ({
  ...sound,
  servers: { kind: "read", servers, silent: [], clusterSize: 3 },
});

const brief = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ severity, id, subject }) => `${severity} ${id}: ${subject}`);

describe("examine", () => {
  it("finds nothing in a sound deployment", () => {
    expect(examine(sound, "production")).toEqual([]);
    expect(examine(sound, "development")).toEqual([]);
  });

  it("says what it checked where nothing is wrong", () => {
    const findings = examine(withLog({ allowDirect: true }), "production");
    const passed = passedChecks(withLog({ allowDirect: true }), findings);
    expect(passed.map(({ id, subject }) => `${id}: ${subject}`)).toEqual([
      ...["a", "b", "c"].flatMap((name) => [`server-version: server ${name}`, `sync-policy: server ${name}`]),
      "cluster-size: servers",
      "jetstream: JetStream",
      "incarnation: incarnation",
      ...["OBJ_TENURE_SNAPSHOTS", "TENURE_AUDIT", "TENURE_PROBE", "TENURE_INCARNATION"].map(
        (name) => `stream-settings: stream ${name}`,
      ),
      "log-size: stream TENURE_LOG",
      "log-consumers: stream TENURE_LOG",
      "compare-and-set: stream TENURE_PROBE",
    ]);
  });

  it.each<[string, DeploymentFacts, string[], string[]]>([
    [
      "a server whose clock is off",
      withServers({ ...server("a"), clockAheadMs: -6_000 }, { ...server("b"), clockAheadMs: 4_000 }),
      ["advice server-clock: server a"],
      ["advice server-clock: server a"],
    ],
    [
      "more consumers than services could have",
      withLog({ consumers: 1_001 }),
      ["advice log-consumers: stream TENURE_LOG"],
      ["advice log-consumers: stream TENURE_LOG"],
    ],
    [
      "one server of three below the floor",
      withServers(server("a"), server("b", "2.9.10"), server("c")),
      ["fatal server-version: server b"],
      ["fatal server-version: server b"],
    ],
    [
      "a faulty release of a good line",
      withServers(server("a", "2.12.9")),
      ["unsafe server-version: server a"],
      ["unsafe server-version: server a"],
    ],
    ["2.10", withServers(server("a", "2.10.27+debian")), ["unsafe server-version: server a"], []],
    [
      "a version that is none",
      withServers(server("a", "main")),
      ["unsafe server-version: server a"],
      ["unsafe server-version: server a"],
    ],
    [
      "a server that syncs at times",
      withServers({ ...server("a"), jetStream: { storeDirectory: "/", syncAlways: false, syncIntervalMs: 120_000 } }),
      ["unsafe sync-policy: server a"],
      ["unsafe sync-policy: server a"],
    ],
    [
      "a server that is down",
      {
        ...sound,
        servers: {
          kind: "read",
          servers: [server("a"), server("b")],
          silent: [{ name: "c", isOffline: true }],
          clusterSize: 3,
        },
      },
      ["advice server-silent: server c"],
      ["advice server-silent: server c"],
    ],
    [
      "a server that is up and silent",
      {
        ...sound,
        servers: { kind: "read", servers: [server("a")], silent: [{ name: "b", isOffline: false }], clusterSize: 3 },
      },
      ["unsafe server-silent: server b"],
      ["unsafe server-silent: server b"],
    ],
    [
      "a single server",
      { ...sound, servers: { kind: "read", servers: [server("a")], silent: [], clusterSize: 1 } },
      ["unsafe cluster-size: servers"],
      [],
    ],
    [
      "servers that cannot be read",
      { ...sound, servers: { kind: "unreadable", why: "no user" } },
      ["unsafe servers-unreadable: servers"],
      ["advice servers-unreadable: servers"],
    ],
    [
      "servers that cannot be read, connected to an old one",
      { ...sound, connected: { name: "a", version: "2.9.10" }, servers: { kind: "unreadable", why: "no user" } },
      ["fatal server-version: server a", "unsafe servers-unreadable: servers"],
      ["fatal server-version: server a", "advice servers-unreadable: servers"],
    ],
  ])("judges %s", (_, facts, production, development) => {
    expect(brief(examine(facts, "production"))).toEqual(production);
    expect(brief(examine(facts, "development"))).toEqual(development);
  });

  it.each<[string, Partial<StreamFacts>]>([
    ["stream-storage", { storage: "memory" }],
    ["stream-allow-direct", { allowDirect: true }],
    ["stream-deny-delete", { denyDelete: false }],
    ["stream-max-age", { maxAgeMs: 1000 }],
    ["stream-max-age", { allowMessageTtl: true }],
    ["stream-mirror", { hasMirror: true }],
    ["stream-mirror", { hasSources: true }],
    ["stream-persist-mode", { persistMode: "async" }],
    ["stream-discard", { discard: "old" }],
    ["stream-discard", { retention: "interest" }],
  ])("calls %s of the log unsafe in both modes for %j", (id, changes) => {
    for (const mode of ["production", "development"] as const)
      expect(brief(examine(withLog(changes), mode))).toEqual([`unsafe ${id}: stream TENURE_LOG`]);
  });

  it("wants three replicas in production only", () => {
    expect(brief(examine(withLog({ replicas: 1 }), "production"))).toEqual([
      "unsafe stream-replicas: stream TENURE_LOG",
    ]);
    expect(examine(withLog({ replicas: 1 }), "development")).toEqual([]);
  });

  it("gives advice from 70 % of the log's size, and when it has no limit", () => {
    expect(examine(withLog({ bytes: 699 }), "production")).toEqual([]);
    const [full] = examine(withLog({ bytes: 700 }), "production");
    expect(full).toMatchObject({ id: "log-size", severity: "advice", what: "holds 700 of at most 1000 bytes (70 %)" });
    const { maxBytes: _, ...unlimited } = stream("TENURE_LOG");
    expect(brief(examine(withStreams({ log: unlimited }), "production"))).toEqual([
      "advice log-size: stream TENURE_LOG",
    ]);
  });

  it("reports each missing stream once", () => {
    const facts = withStreams({ audit: undefined, log: undefined });
    const lost: DeploymentFacts = {
      ...facts,
      jetStream: { ...facts.jetStream, incarnation: { kind: "log-missing", incarnation } },
    };
    expect(brief(examine(lost, "development"))).toEqual([
      "fatal log-stream-missing: incarnation",
      "fatal stream-missing: stream TENURE_AUDIT",
    ]);
  });

  it("says only that nothing was initialized where there is nothing", () => {
    const facts: DeploymentFacts = {
      ...sound,
      jetStream: { ...sound.jetStream, streams: {}, incarnation: { kind: "nothing" } },
    };
    expect(brief(examine(facts, "development"))).toEqual(["fatal not-initialized: incarnation"]);
    expect(examineInfrastructure(facts, "production")).toEqual([]);
  });

  it.each([
    ["off", "jetstream-off"],
    ["leaderless", "jetstream-leaderless"],
  ] as const)("calls JetStream %s fatal and does not guess about streams", (kind, id) => {
    const jetStream = { server: sound.connected, state: { kind, why: "x" }, streams: {} };
    const { probe: _, ...facts } = { ...sound, jetStream };
    expect(brief(examine(facts, "development"))).toEqual([`fatal ${id}: JetStream`]);
    expect(brief(examineInfrastructure(facts, "development"))).toEqual([`fatal ${id}: JetStream`]);
  });

  it("calls two winners fatal and an undecided probe unsafe", () => {
    const broken = { ...probe, passed: false, acked: 51, doubleWins: [{ expected: 3n, winners: 2 }] };
    expect(brief(examine({ ...sound, probe: broken }, "development"))).toEqual([
      "fatal compare-and-set: stream TENURE_PROBE",
    ]);
    const undecided = { ...probe, passed: false, decidedRounds: 3, acked: 3 };
    expect(brief(examine({ ...sound, probe: undecided }, "development"))).toEqual([
      "unsafe compare-and-set: stream TENURE_PROBE",
    ]);
  });

  it("puts the worst first", () => {
    const facts = withServers(server("a", "2.12.9"), server("b", "2.9.10"));
    expect(examine(facts, "production").map((finding) => finding.severity)).toEqual(["fatal", "unsafe"]);
  });
});

describe("a finding", () => {
  it("stops by its severity and the mode, and says what, why and what to do on one line", () => {
    const [finding] = examine(withLog({ allowDirect: true }), "production");
    if (finding === undefined) throw new Error("a finding");
    expect(stops(finding, "production")).toBe(true);
    expect(stops(finding, "development")).toBe(false);
    expect(findingText(finding)).toBe(
      "stream TENURE_LOG: allows direct reads; direct reads answer with outdated messages for seconds after a failover; set `allow_direct: false`",
    );
  });
});
