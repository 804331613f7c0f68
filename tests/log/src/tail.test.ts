import { systemClock } from "@tenure/kernel";
import { createStreams, JetStreamTransport, streamNames } from "@tenure/log";
import { TailWitness } from "@tenure/log/contract";
import { startNats, startNatsCluster, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { administrator, connect } from "./connect.ts";
import { LogWriter } from "./log-writer.ts";
import { deleteConsumers, storedBatches } from "./stored-log.ts";

const partitions = [0, 1, 2];
const fromStart = new Map(partitions.map((partition) => [partition, 0n]));
const slow = { timeout: 240_000 };

/** More batches than there are now reach the log and the tail. */
async function progress(writers: readonly LogWriter[], witness: TailWitness, batches = 30): Promise<void> {
  const targets = writers.map(({ committed }) => committed.length + batches);
  const hasCome = (told: number, index: number): boolean => told >= (targets[index] ?? 0);
  await waitFor(
    () =>
      writers.every(({ committed }, index) => hasCome(committed.length, index)) &&
      partitions.every((partition, index) => hasCome(witness.sequences(partition).length, index)),
    { timeoutMs: 60_000, describe: `${batches} more commits of each writer, told by the tail` },
  );
}

/** The tail told exactly what the log holds, which is exactly what the writers committed. */
async function expectFaithful(
  witness: TailWitness,
  writers: readonly LogWriter[],
  stored: (partition: number) => Promise<readonly { readonly sequence: bigint }[]>,
): Promise<void> {
  await Promise.all(writers.map((writer) => writer.stop()));
  const total = writers.reduce((sum, { sequences }) => sum + sequences.length, 0);
  await waitFor(() => witness.messages.length >= total, { describe: `the tail to tell all ${total} messages` });
  for (const [partition, writer] of writers.entries()) {
    const inLog = (await stored(partition)).map(({ sequence }) => sequence);
    expect(writer.sequences).toEqual(inLog);
    expect(witness.sequences(partition)).toEqual(inLog);
  }
  expect(witness.messages.map(({ sequence }) => sequence)).toEqual(
    writers.flatMap(({ sequences }) => sequences).sort((a, b) => Number(a - b)),
  );
  expect(witness.resets).toEqual([]);
}

/** At most three looks, and then a wait. */
function isShort(looks: readonly boolean[]): boolean {
  return looks.length <= 4 && looks.slice(0, -1).every((isLook) => isLook) && looks.at(-1) === false;
}

describe("a tail on one server", () => {
  it(
    "tells each message once through kill -9, restart and pause of the server while writers append",
    slow,
    async () => {
      await using server = await startNats();
      await using control = await connect(server.url);
      await using tailBus = await connect(server.url);
      await createStreams(control, { replicas: 1, clock: systemClock });
      const interruptions: string[] = [];
      using transport = new JetStreamTransport({
        control,
        tail: tailBus,
        onInterruption: (why) => interruptions.push(why),
      });
      await using witness = new TailWitness(transport, fromStart);
      await using resting = new TailWitness(transport, fromStart, 5);
      const writers = partitions.map((partition) => new LogWriter(transport, partition, `writer-${partition}`));
      await progress(writers, witness);
      await server.kill9();
      await server.restart();
      await progress(writers, witness);
      await server.stop();
      await server.restart();
      await progress(writers, witness);
      await server.pause();
      await waitFor(() => !tailBus.connected && !control.connected, { describe: "both connections to give up" });
      server.resume();
      await progress(writers, witness);
      const admin = await administrator(control);
      for (const one of [witness, resting]) {
        await expectFaithful(one, writers, (partition) => storedBatches(admin, partition));
      }
      expect(interruptions.length).toBeGreaterThanOrEqual(6);
      await witness[Symbol.asyncDispose]();
      await resting[Symbol.asyncDispose]();
      await waitFor(async () => (await admin.streams.info(streamNames.log)).state.consumer_count === 0, {
        describe: "no consumer to be left behind",
      });
    },
  );

  it("is told nothing while it rests, and everything when it is hurried", slow, async () => {
    await using server = await startNats();
    await using control = await connect(server.url);
    await createStreams(control, { replicas: 1, clock: systemClock });
    using transport = new JetStreamTransport({ control });
    await using prompt = new TailWitness(transport, fromStart);
    await using resting = new TailWitness(transport, fromStart, 3_600_000);
    await waitFor(() => [prompt, resting].every(({ caughtUp }) => caughtUp.length === partitions.length));
    const append = async (prev: bigint) => {
      const outcome = await transport.append({ partition: 0, payload: new Uint8Array(1), prev, timeoutMs: 60_000 });
      return outcome.kind === "acked" ? outcome.sequence : 0n;
    };
    const first = await append(0n);
    const second = await append(first);
    await waitFor(() => prompt.messages.length === 2, { timeoutMs: 60_000 });
    expect(resting.messages).toEqual([]);
    await resting.tail.hurry();
    expect(resting.sequences(0)).toEqual([first, second]);
  });

  it(
    "waits to be told once it has looked twice in vain, also after each message of a log that says little",
    slow,
    async () => {
      await using server = await startNats();
      await using control = await connect(server.url);
      await createStreams(control, { replicas: 1, clock: systemClock });
      using transport = new JetStreamTransport({ control });
      /** For each pull whether it takes only what is there. */
      const looks: boolean[] = [];
      const stop = control.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${streamNames.log}.*`, (payload) => {
        looks.push("no_wait" in JSON.parse(Buffer.from(payload).toString()));
      });
      await using resting = new TailWitness(transport, fromStart, 5);
      let prev = 0n;
      for (let messages = 0; messages < 5; messages += 1) {
        await waitFor(() => looks.at(-1) === false, { describe: "a pull that waits" });
        // What came with a pull that waits is followed by a look for more that came with it, and by two in vain.
        expect(looks.splice(0)).toEqual(messages === 0 ? [true, true, false] : expect.toSatisfy(isShort));
        const outcome = await transport.append({ partition: 0, payload: new Uint8Array(1), prev, timeoutMs: 60_000 });
        if (outcome.kind === "acked") prev = outcome.sequence;
        await waitFor(() => resting.messages.length === messages + 1, { timeoutMs: 60_000 });
      }
      stop();
    },
  );

  it("goes on within 3 s after its consumer was deleted behind its back, under load and idle", slow, async () => {
    await using server = await startNats();
    await using control = await connect(server.url);
    await using tailBus = await connect(server.url);
    await createStreams(control, { replicas: 1, clock: systemClock });
    using transport = new JetStreamTransport({ control, tail: tailBus });
    await using witness = new TailWitness(transport, fromStart);
    const admin = await administrator(control);
    const writers = partitions.map((partition) => new LogWriter(transport, partition, `writer-${partition}`));
    await progress(writers, witness);
    for (let round = 0; round < 3; round += 1) {
      expect(await deleteConsumers(admin)).toBe(1);
      const deletedAtMs = systemClock.now();
      const told = witness.messages.length;
      await waitFor(() => witness.tail.liveSinceMs !== undefined && witness.messages.length > told + 20, {
        intervalMs: 1,
      });
      expect(systemClock.now() - deletedAtMs).toBeLessThan(3_000);
    }
    await expectFaithful(witness, writers, (partition) => storedBatches(admin, partition));
    expect(await deleteConsumers(admin)).toBe(1);
    const deletedAtMs = systemClock.now();
    const prev = writers[0]?.sequences.at(-1) ?? 0n;
    const payload = new Uint8Array(1);
    expect(await transport.append({ partition: 0, payload, prev, timeoutMs: 2_000 })).toMatchObject({ kind: "acked" });
    const told = witness.messages.length;
    await waitFor(() => witness.messages.length === told + 1, { intervalMs: 1 });
    expect(systemClock.now() - deletedAtMs).toBeLessThan(3_000);
  });
});

describe("a tail on three servers", () => {
  it(
    "tells each message once through leader changes and the loss of the leader while writers append",
    slow,
    async () => {
      await using cluster = await startNatsCluster(3);
      await using control = await connect(cluster.urls);
      await using tailBus = await connect([...cluster.urls].reverse());
      await createStreams(control, { replicas: 3, clock: systemClock });
      const admin = await administrator(control);
      const leaderOf = async (): Promise<string | undefined> =>
        (await admin.streams.info(streamNames.log)).cluster?.leader;
      using transport = new JetStreamTransport({ control, tail: tailBus });
      await using witness = new TailWitness(transport, fromStart);
      const writers = partitions.map((partition) => new LogWriter(transport, partition, `writer-${partition}`));
      await progress(writers, witness);

      const first = await leaderOf();
      await control.nats.request(`$JS.API.STREAM.LEADER.STEPDOWN.${streamNames.log}`, "", { timeout: 10_000 });
      await waitFor(async () => ![undefined, "", first].includes(await leaderOf()), { describe: "another leader" });
      await progress(writers, witness);

      const second = await leaderOf();
      const lost = cluster.servers.find(({ name }) => name === second);
      await lost?.kill9();
      await progress(writers, witness);
      await lost?.restart();
      await cluster.waitUntilReady();
      await progress(writers, witness);

      await expectFaithful(witness, writers, (partition) => storedBatches(admin, partition));
    },
  );
});
