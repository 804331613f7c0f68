import { systemClock } from "@tenure/kernel";
import { createStreams, streamNames } from "@tenure/log";
import { collectFacts, examine, type Finding } from "@tenure/runtime";
import { startNats, startNatsCluster, tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { administrator, connect } from "./connect.ts";
import { checkDeployment, findingsOf } from "./doctor.ts";

const summary = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ id, severity, subject }) => `${severity} ${id} ${subject}`).sort();

describe("the doctor", () => {
  it("has nothing to say about a sound server in development, and names what production lacks", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    await checkDeployment(server, "development");
    expect(await findingsOf(server, "development")).toEqual([]);
    expect(summary(await findingsOf(server, "production"))).toEqual([
      "unsafe cluster-size servers",
      "unsafe stream-replicas stream OBJ_TENURE_SNAPSHOTS",
      "unsafe stream-replicas stream TENURE_AUDIT",
      "unsafe stream-replicas stream TENURE_INCARNATION",
      "unsafe stream-replicas stream TENURE_LOG",
      "unsafe stream-replicas stream TENURE_PROBE",
    ]);
  });

  it("counts what it cannot read as unsafe in production", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    const withoutUser = await collectFacts(bus, undefined, { probe: false });
    const withWrongUser = await collectFacts(bus, bus, { probe: false });
    for (const facts of [withoutUser, withWrongUser]) {
      expect(facts.servers.kind).toBe("unreadable");
      expect(summary(examine(facts, "production"))).toContain("unsafe servers-unreadable servers");
      expect(summary(examine(facts, "development"))).toEqual(["advice servers-unreadable servers"]);
    }
  });

  it("sees a server that does not sync every write", async () => {
    await using directory = await tempDirectory();
    const extraConfig = `jetstream { store_dir: ${JSON.stringify(directory.path)}, sync_interval: "10s" }`;
    await using server = await startNats({ extraConfig });
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    const [finding, ...others] = await findingsOf(server, "development");
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      id: "sync-policy",
      severity: "unsafe",
      what: "JetStream syncs its files every 10s",
    });
  });

  it("sees settings of the log that were changed behind its back", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    const { streams } = await administrator(bus);
    await streams.update(streamNames.log, { allow_direct: true, max_age: 3_600_000_000_000, discard: "old" });
    expect(summary(await findingsOf(server, "development"))).toEqual([
      "unsafe stream-allow-direct stream TENURE_LOG",
      "unsafe stream-discard stream TENURE_LOG",
      "unsafe stream-max-age stream TENURE_LOG",
    ]);
  });

  it("calls three sound servers sound in production, and still lets services start while one is down", {
    timeout: 180_000,
  }, async () => {
    await using cluster = await startNatsCluster(3);
    const [first, second, third] = cluster.servers;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three servers");
    await using bus = await connect(first.url);
    await createStreams(bus, { replicas: 3, clock: systemClock });
    await checkDeployment(first, "production");
    const facts = await connect(first.systemUrl, "system").then(async (systemBus) => {
      await using closing = systemBus;
      return await collectFacts(bus, closing, { probe: false });
    });
    expect(facts.servers).toMatchObject({ kind: "read", clusterSize: 3, silent: [] });
    expect(examine(facts, "production")).toEqual([]);

    await third.kill9();
    await cluster.waitUntilReady();
    await checkDeployment(first, "production");
  });
});
