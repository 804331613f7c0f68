import { systemClock } from "@tenure/kernel";
import { createStreams, probeCompareAndSet, probeStream } from "@tenure/log";
import { startNats, startNatsCluster } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { administrator, connect } from "./connect.ts";

const slow = { timeout: 180_000 };

describe("probeCompareAndSet", () => {
  it("passes on one server, and again on the same connection", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    for (let run = 0; run < 2; run += 1) {
      expect(await probeCompareAndSet(bus)).toMatchObject({
        passed: true,
        rounds: 50,
        contenders: 6,
        decidedRounds: 50,
        acked: 50,
        doubleWins: [],
      });
    }
  });

  it("passes on three servers, asked through each of them", slow, async () => {
    await using cluster = await startNatsCluster(3);
    await using first = await connect(cluster.urls[0] ?? "");
    await createStreams(first, { replicas: 3, clock: systemClock });
    for (const url of cluster.urls) {
      await using bus = await connect(url);
      expect(await probeCompareAndSet(bus)).toMatchObject({
        passed: true,
        decidedRounds: 50,
        acked: 50,
        doubleWins: [],
      });
    }
  });

  it("finds two winners on three servers of version 2.9.10, which break compare-and-set", slow, async () => {
    await using cluster = await startNatsCluster(3, { version: "2.9.10" });
    await using bus = await connect(cluster.urls[0] ?? "");
    const { streams } = await administrator(bus);
    const { metadata: _, ...settings } = probeStream({ replicas: 3, incarnationId: "x", firstSequence: 1n });
    await streams.add(settings);
    const result = await probeCompareAndSet(bus);
    expect(result.passed).toBe(false);
    expect(result.doubleWins.length).toBeGreaterThan(0);
    expect(result.acked).toBeGreaterThan(result.decidedRounds);
  });

  it("ends undecided, within its bound, where there is no stream to probe on", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    const hasty = { ...systemClock, sleep: async () => undefined };
    const result = await probeCompareAndSet(bus, { clock: hasty });
    expect(result).toMatchObject({ passed: false, decidedRounds: 0, acked: 0, doubleWins: [] });
    expect(result.refusals).toEqual({ Unavailable: 12 * 6 });
  });
});
