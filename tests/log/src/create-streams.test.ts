import { systemClock, systemRandom } from "@tenure/kernel";
import {
  createStreams,
  findIncarnation,
  incarnationStream,
  logStream,
  readIncarnation,
  type StreamRole,
  streamNames,
} from "@tenure/log";
import { type NatsServer, startNats, startNatsCluster } from "@tenure/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { administrator, allStreams, connect, existingStreams } from "./connect.ts";

const options = { replicas: 1, clock: systemClock } as const;

describe("createStreams", () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    await using bus = await connect(server.url);
    const { streams } = await administrator(bus);
    for (const name of await existingStreams(bus)) await streams.delete(name);
  });

  it("makes every stream and the record on an empty server", async () => {
    await using bus = await connect(server.url);
    const beforeMs = Date.now();
    const made = await createStreams(bus, { ...options, createdBy: "1.2.3" });
    expect(made).toMatchObject({ created: true, partitions: 8, formatVersion: 1, createdBy: "1.2.3" });
    expect(made.firstSequence).toBeGreaterThanOrEqual(BigInt(beforeMs) * 1000n);
    expect(made.firstSequence).toBeLessThan(1n << 53n);
    expect(await existingStreams(bus)).toEqual(allStreams);
    const { created: _, ...incarnation } = made;
    expect(await readIncarnation(bus)).toEqual(incarnation);
  });

  it("gives the log the first sequence of the record", async () => {
    await using bus = await connect(server.url);
    const { firstSequence } = await createStreams(bus, options);
    const { streams } = await administrator(bus);
    const ack = await bus.nats.request("tenure.log.0", "x", { timeout: 5000 });
    expect(ack.json<{ seq: number }>().seq).toBe(Number(firstSequence));
    expect((await streams.info(streamNames.log)).config).toMatchObject({
      storage: "file",
      discard: "new",
      deny_delete: true,
      allow_direct: false,
      max_age: 0,
      duplicate_window: 1_000_000_000,
    });
  });

  it("returns the existing incarnation the second time and changes nothing", async () => {
    await using bus = await connect(server.url);
    const first = await createStreams(bus, { ...options, partitions: 16 });
    expect(await createStreams(bus, options)).toEqual({ ...first, created: false });
    expect(await createStreams(bus, { ...options, partitions: 16 })).toEqual({ ...first, created: false });
  });

  it("keeps the record from being written over, even without a condition", async () => {
    await using bus = await connect(server.url);
    const { id } = await createStreams(bus, options);
    const answer = await bus.nats.request("tenure.incarnation", "another", { timeout: 5000 });
    expect(answer.json()).toMatchObject({ error: { description: "maximum messages exceeded" } });
    expect((await readIncarnation(bus)).id).toBe(id);
  });

  it("refuses another number of partitions for an existing deployment", async () => {
    await using bus = await connect(server.url);
    await createStreams(bus, options);
    const fault = createStreams(bus, { ...options, partitions: 9 });
    await expect(fault).rejects.toMatchObject({ code: "FAILED_PRECONDITION", reason: "PARTITIONS_FIXED" });
  });

  it("agrees with others that run at the same time, of which exactly one creates", async () => {
    for (let round = 0; round < 5; round += 1) {
      await using bus = await connect(server.url);
      const { streams } = await administrator(bus);
      for (const name of await existingStreams(bus)) await streams.delete(name);
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => createOnOwnConnection(server)));
      expect(new Set(outcomes.map((outcome) => outcome.id)).size).toBe(1);
      expect(outcomes.filter((outcome) => outcome.created)).toHaveLength(1);
      const { messages } = (await streams.info(streamNames.incarnation)).state;
      expect(messages).toBe(1);
    }
  });

  it.each<StreamRole>(["log", "snapshots", "audit", "incarnation"])(
    "refuses a deployment that has lost its %s and creates nothing",
    async (role) => {
      await using bus = await connect(server.url);
      await createStreams(bus, options);
      const { streams } = await administrator(bus);
      await streams.delete(streamNames[role]);
      const left = await existingStreams(bus);
      await expect(createStreams(bus, options)).rejects.toMatchObject({
        code: "FAILED_PRECONDITION",
        reason: "PARTIALLY_INITIALIZED",
        message: expect.stringMatching(new RegExp(`exist, but not .*${streamNames[role]}`)),
      });
      expect(await existingStreams(bus)).toEqual(left);
    },
  );

  it("refuses a log without anything else and creates nothing", async () => {
    await using bus = await connect(server.url);
    const { streams } = await administrator(bus);
    await streams.add(logStream({ replicas: 1, incarnationId: "x", firstSequence: 5n }));
    await expect(createStreams(bus, options)).rejects.toMatchObject({
      reason: "PARTIALLY_INITIALIZED",
      message: expect.stringContaining("TENURE_LOG exists, but not"),
    });
    expect(await existingStreams(bus)).toEqual([streamNames.log]);
  });

  it("waits for another init at work, and calls its remains remains when it does not go on", async () => {
    await using bus = await connect(server.url);
    const { streams } = await administrator(bus);
    await streams.add(incarnationStream({ replicas: 1, incarnationId: "gone", firstSequence: 5n }));
    let waits = 0;
    const countWait = async (): Promise<void> => {
      waits += 1;
    };
    const hasty = { ...systemClock, now: () => waits * 1000, sleep: countWait };
    await expect(createStreams(bus, { ...options, clock: hasty })).rejects.toMatchObject({
      reason: "PARTIALLY_INITIALIZED",
    });
    expect(waits).toBeGreaterThan(10);
    expect(await existingStreams(bus)).toEqual([streamNames.incarnation]);
  });

  it("makes only the probe's stream again, which holds nothing", async () => {
    await using bus = await connect(server.url);
    const made = await createStreams(bus, options);
    await (await administrator(bus)).streams.delete(streamNames.probe);
    expect(await createStreams(bus, options)).toEqual({ ...made, created: false });
    expect(await existingStreams(bus)).toEqual(allStreams);
  });

  it("refuses replicas on a single server before anything is made", async () => {
    await using bus = await connect(server.url);
    await expect(createStreams(bus, { ...options, replicas: 3 })).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "JETSTREAM_NOT_CLUSTERED",
    });
    expect(await existingStreams(bus)).toEqual([]);
  });
});

describe("readIncarnation", () => {
  it("tells each way in which a deployment can be broken apart", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    const { streams } = await administrator(bus);
    const reason = async (): Promise<unknown> => readIncarnation(bus).catch((fault) => fault.reason);
    expect(await reason()).toBe("NOT_INITIALIZED");
    const { id, firstSequence } = await createStreams(bus, options);
    expect((await findIncarnation(bus)).kind).toBe("present");

    await streams.delete(streamNames.log);
    expect(await reason()).toBe("LOG_STREAM_MISSING");
    await streams.add(logStream({ replicas: 1, incarnationId: id, firstSequence: firstSequence + 1n }));
    expect(await reason()).toBe("LOG_STREAM_REPLACED");

    await streams.delete(streamNames.incarnation);
    expect(await reason()).toBe("INCARNATION_STREAM_MISSING");
    await streams.add({ ...incarnationStream({ replicas: 1, incarnationId: id, firstSequence }), max_msgs: -1 });
    expect(await reason()).toBe("INCARNATION_MISSING");
    await bus.nats.request("tenure.incarnation", Uint8Array.of(0xff));
    expect(await reason()).toBe("INCARNATION_MALFORMED");
    // Field 5, the format version, is 99.
    await bus.nats.request("tenure.incarnation", Uint8Array.of(0x28, 99));
    expect(await reason()).toBe("INCARNATION_FORMAT_UNKNOWN");
  });
});

describe("createStreams on three servers", () => {
  it("makes three replicas, and two at once agree", { timeout: 180_000 }, async () => {
    await using cluster = await startNatsCluster(3);
    const outcomes = await Promise.all(
      cluster.urls.slice(0, 2).map(async (url) => {
        await using bus = await connect(url);
        return await createStreams(bus, { replicas: 3, clock: systemClock, random: systemRandom });
      }),
    );
    expect(outcomes.map((outcome) => outcome.created).sort()).toEqual([false, true]);
    expect(outcomes[0]?.id).toBe(outcomes[1]?.id);
    await using bus = await connect(cluster.urls);
    const { streams } = await administrator(bus);
    for (const name of allStreams) expect((await streams.info(name)).config.num_replicas).toBe(3);
  });
});

async function createOnOwnConnection(server: NatsServer) {
  await using bus = await connect(server.url);
  return await createStreams(bus, options);
}
