import { Objm } from "@nats-io/obj";
import { type Bus, logSubject } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";
import {
  Compactor,
  createStreams,
  JetStreamSnapshotStore,
  JetStreamTransport,
  type SnapshotObject,
  snapshotBucket,
  snapshotName,
  streamNames,
} from "@tenure/log";
import { snapshotStoreContract } from "@tenure/log/contract";
import { initialize } from "@tenure/provision";
import { startNats, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { administrator, connect } from "./connect.ts";
import { writerOf } from "./log-writer.ts";
import { startProvisioned } from "./provisioned.ts";
import { storedBatches } from "./stored-log.ts";

describe("the snapshot store on JetStream", () => {
  it.each(snapshotStoreContract.map(({ title, show }) => [title, show] as const))("%s", async (_title, show) => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    await show({ connect: () => new JetStreamSnapshotStore({ bus, boundMs: 500 }) });
  });

  it("keeps objects so that the NATS object store reads them", async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    using store = new JetStreamSnapshotStore({ bus });
    const bytes = new Uint8Array(700_000).map((_, index) => index % 251);
    await store.put("4/99", bytes);
    const objects = await new Objm(bus.nats).open(snapshotBucket);
    expect(Buffer.from((await objects.getBlob("4/99")) ?? []).equals(bytes)).toBe(true);
  });

  it("writes and reads on through a kill -9 of the server", { timeout: 120_000 }, async () => {
    await using server = await startNats();
    await using bus = await connect(server.url);
    await createStreams(bus, { replicas: 1, clock: systemClock });
    using store = new JetStreamSnapshotStore({ bus, boundMs: 60_000 });
    const bytes = new Uint8Array(20_000_000).map((_, index) => index % 253);
    const putting = store.put("0/7", bytes);
    const admin = await administrator(bus);
    const chunks = async () => (await admin.streams.info(streamNames.snapshots)).state.messages;
    await waitFor(async () => (await chunks()) > 3, { describe: "the first chunks", intervalMs: 1 });
    await server.kill9();
    await server.restart();
    const object = await putting;
    const reading = store.get(object);
    await server.kill9();
    await server.restart();
    expect(Buffer.from(await reading).equals(bytes)).toBe(true);
  });
});

describe("the compactor", () => {
  it("purges log and snapshots below the previous snapshot, with a user that may do nothing else", async () => {
    await using server = await startProvisioned();
    await using provision = await server.connect("provision");
    await using systemBus = await server.connect("system");
    await initialize({
      bus: provision,
      systemBus,
      mode: "development",
      clock: systemClock,
      random: systemRandom,
      report: () => undefined,
    });
    await using store = await server.connect("lease-store");
    await using bus = await server.connect("compactor");
    using log = new JetStreamTransport({ control: store });
    using snapshots = new JetStreamSnapshotStore({ bus: store, boundMs: 500 });
    const [oldest, previous, latest, another] = await writeSnapshots(log, snapshots, store);
    const compactor = new Compactor({ bus, log, snapshots });
    const plan = { partition: 0, previous, latest, outdated: [oldest.name] };

    await expect(compactor.compact({ ...plan, previous: latest })).rejects.toMatchObject({
      reason: "COMPACTION_UNSAFE",
    });
    const elsewhere = { ...previous, sequence: previous.sequence - 1n };
    await expect(compactor.compact({ ...plan, partition: 1, previous: elsewhere })).rejects.toMatchObject({
      reason: "COMPACTION_UNSAFE",
    });
    // Two batches of the log; the oldest snapshot's chunk and description, and the chunk of a try that was given up.
    expect(await compactor.compact(plan)).toEqual({ logMessages: 2, snapshotMessages: 3 });
    expect(await compactor.compact(plan)).toEqual({ logMessages: 0, snapshotMessages: 0 });

    const kept = await storedBatches(await administrator(store), 0);
    expect(kept[0]?.sequence).toBe(previous.sequence);
    await expect(snapshots.get(oldest)).rejects.toMatchObject({ code: "NOT_FOUND" });
    for (const object of [previous, latest, another]) expect(await snapshots.get(object)).toHaveLength(1000);
    const next = await writerOf(log, 0).commit(new Uint8Array(1), latest.sequence, new AbortController().signal);
    expect(next.kind).toBe("committed");
  });
});

type Taken = SnapshotObject & { readonly sequence: bigint };

/** Three snapshots of partition 0 with a try that was given up between them, and one of partition 1. */
async function writeSnapshots(
  log: JetStreamTransport,
  snapshots: JetStreamSnapshotStore,
  store: Bus,
): Promise<[Taken, Taken, Taken, Taken]> {
  const never = new AbortController().signal;
  let prev = 0n;
  const write = async (partition: number, id: string, after: bigint): Promise<bigint> => {
    const outcome = await writerOf(log, partition).commit(new TextEncoder().encode(id), after, never);
    expect(outcome.kind, `${logSubject(partition)} ${id}`).toBe("committed");
    return outcome.sequence;
  };
  const take = async (partition: number, sequence: bigint): Promise<Taken> => ({
    ...(await snapshots.put(snapshotName(partition, sequence), new Uint8Array(1000))),
    sequence,
  });
  const taken: Taken[] = [];
  const otherSequence = await write(1, "other", 0n);
  const other = await take(1, otherSequence);
  for (const number of [1, 2, 3]) {
    prev = await write(0, `batch-${number}`, prev);
    taken.push(await take(0, prev));
    if (number === 1) {
      store.nats.publish(`$O.${snapshotBucket}.C.0.${prev + 1n}.givenup1`, new Uint8Array(10));
      await store.nats.flush();
      prev = await write(0, "between", prev);
    }
  }
  const [oldest, previous, latest] = taken;
  if (oldest === undefined || previous === undefined || latest === undefined) throw new Error("three were taken");
  return [oldest, previous, latest, other];
}
