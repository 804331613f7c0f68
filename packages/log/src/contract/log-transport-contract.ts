import assert from "node:assert/strict";
import type { LogTransport } from "../log-transport.ts";
import type { ContractCase } from "./contract-case.ts";
import { TailWitness } from "./tail-witness.ts";

/** An empty log to show the contract on. Partitions 0 to 2 exist. */
export interface LogFixture {
  /** Another client of the same log. */
  connect(): LogTransport;
  /** Removes a partition's messages below a sequence, as the compactor does. */
  purge(partition: number, below: bigint): Promise<void>;
  /** Interrupts what a client's tail listens on, so that it has to begin anew; returns once that has happened. */
  interrupt(transport: LogTransport): Promise<void>;
  /** Returns when the condition holds, letting time pass; throws with `what` if it never does. */
  until(condition: () => boolean, what: string): Promise<void>;
  /** The result of something that needs time to pass. */
  settle<T>(promise: Promise<T>): Promise<T>;
}

const timeoutMs = 5000;
const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const words = (payload: Uint8Array | undefined): string => new TextDecoder().decode(payload);

/** Appends one after the other and gives the sequences. */
async function appendAll(
  fixture: LogFixture,
  transport: LogTransport,
  partition: number,
  payloads: readonly string[],
  prev = 0n,
): Promise<bigint[]> {
  const sequences: bigint[] = [];
  for (const payload of payloads) {
    const request = { partition, payload: text(payload), prev: sequences.at(-1) ?? prev, timeoutMs };
    const outcome = await fixture.settle(transport.append(request));
    assert.equal(
      outcome.kind,
      "acked",
      JSON.stringify(outcome, (_, value) => String(value)),
    );
    if (outcome.kind === "acked") sequences.push(outcome.sequence);
  }
  return sequences;
}

const cases: readonly ContractCase<LogFixture>[] = [
  {
    title: "an append is acknowledged when the expected sequence is the partition's last, and sequences grow",
    async show(fixture) {
      const log = fixture.connect();
      const [first = 0n, second = 0n] = await appendAll(fixture, log, 0, ["a", "b"]);
      const [other = 0n] = await appendAll(fixture, log, 1, ["c"]);
      assert.ok(first > 0n && second > first && other > second);
    },
  },
  {
    title: "an append that expects another sequence is refused with the last one, and is not applied",
    async show(fixture) {
      const log = fixture.connect();
      const [first = 0n] = await appendAll(fixture, log, 0, ["a"]);
      const outcome = await fixture.settle(log.append({ partition: 0, payload: text("b"), prev: 0n, timeoutMs }));
      assert.equal(outcome.kind, "refused");
      if (outcome.kind === "refused") {
        assert.equal(outcome.refusal, "Conflict");
        assert.equal(outcome.lastSequence, first);
      }
      assert.equal(await fixture.settle(log.readAfter(0, first)), undefined);
    },
  },
  {
    title: "of two appends with one expectation one is acknowledged",
    async show(fixture) {
      const [left, right] = [fixture.connect(), fixture.connect()];
      const outcomes = await fixture.settle(
        Promise.all([left, right].map((log) => log.append({ partition: 2, payload: text("x"), prev: 0n, timeoutMs }))),
      );
      assert.equal(outcomes.filter(({ kind }) => kind === "acked").length, 1);
    },
  },
  {
    title: "readAfter gives the first message after a sequence, with what it followed, and readLast the last",
    async show(fixture) {
      const log = fixture.connect();
      const [first = 0n, second = 0n] = await appendAll(fixture, log, 0, ["a", "b"]);
      await appendAll(fixture, log, 1, ["other"]);
      const found = await fixture.settle(log.readAfter(0, 0n));
      assert.deepEqual([found?.sequence, found?.prev, words(found?.payload)], [first, 0n, "a"]);
      const next = await fixture.settle(log.readAfter(0, first));
      assert.deepEqual([next?.sequence, next?.prev, words(next?.payload)], [second, first, "b"]);
      assert.equal(await fixture.settle(log.readAfter(0, second)), undefined);
      const last = await fixture.settle(log.readLast(0));
      assert.deepEqual([last?.sequence, last?.prev], [second, first]);
      assert.equal(await fixture.settle(log.readLast(2)), undefined);
    },
  },
  {
    title: "a tail tells what is there, says once per partition that it has caught up, then tells what comes",
    async show(fixture) {
      const log = fixture.connect();
      const before = await appendAll(fixture, log, 0, ["a", "b", "c"]);
      await using witness = new TailWitness(log, new Map([0, 1].map((partition) => [partition, 0n])));
      await fixture.until(() => witness.caughtUp.length === 2, "both partitions to catch up");
      assert.deepEqual(witness.sequences(0), before);
      assert.deepEqual(witness.messagesAtCaughtUp, [3, 3]);
      const after = await appendAll(fixture, log, 0, ["d"], before.at(-1));
      const other = await appendAll(fixture, log, 1, ["e"]);
      await appendAll(fixture, log, 2, ["not followed"]);
      await fixture.until(() => witness.messages.length === 5, "two more messages");
      assert.deepEqual(witness.sequences(0), [...before, ...after]);
      assert.deepEqual(witness.sequences(1), other);
      assert.deepEqual(witness.messages.map(({ payload }) => words(payload)).join(), "a,b,c,d,e");
      assert.deepEqual([...witness.caughtUp].sort(), [0, 1]);
      assert.deepEqual(witness.resets, []);
      assert.notEqual(witness.tail.liveSinceMs, undefined);
    },
  },
  {
    title: "a tail of an empty log catches up at once",
    async show(fixture) {
      await using witness = new TailWitness(fixture.connect(), new Map([[2, 0n]]));
      await fixture.until(() => witness.caughtUp.length === 1, "the partition to catch up");
      assert.deepEqual(witness.messages, []);
    },
  },
  {
    title: "a tail begins after the given sequences, each partition after its own",
    async show(fixture) {
      const log = fixture.connect();
      const zero = await appendAll(fixture, log, 0, ["a", "b", "c"]);
      const one = await appendAll(fixture, log, 1, ["d", "e", "f"]);
      const from = new Map<number, bigint>([
        [0, zero[1] ?? 0n],
        [1, one[0] ?? 0n],
      ]);
      await using witness = new TailWitness(log, from);
      await fixture.until(() => witness.messages.length === 3, "three messages");
      assert.deepEqual(witness.sequences(0), zero.slice(2));
      assert.deepEqual(witness.sequences(1), one.slice(1));
    },
  },
  {
    title: "a tail that is interrupted goes on without a gap and without a duplicate",
    async show(fixture) {
      const [writer, reader] = [fixture.connect(), fixture.connect()];
      await using witness = new TailWitness(reader, new Map([0, 1].map((partition) => [partition, 0n])));
      const zero: bigint[] = [];
      const one: bigint[] = [];
      for (let round = 0; round < 3; round += 1) {
        zero.push(...(await appendAll(fixture, writer, 0, ["a", "b"], zero.at(-1))));
        await fixture.interrupt(reader);
        one.push(...(await appendAll(fixture, writer, 1, ["c"], one.at(-1))));
      }
      await fixture.until(() => witness.messages.length === 9, "nine messages");
      assert.deepEqual(witness.sequences(0), zero);
      assert.deepEqual(witness.sequences(1), one);
      assert.deepEqual(witness.resets, []);
    },
  },
  {
    title: "a tail that rests tells what is there without a rest, and what comes when it is hurried",
    async show(fixture) {
      const log = fixture.connect();
      const payloads = Array.from({ length: 250 }, (_, index) => String(index));
      const before = await appendAll(fixture, log, 0, payloads);
      await using witness = new TailWitness(log, new Map([[0, 0n]]), 3_600_000);
      await fixture.until(() => witness.caughtUp.length === 1, "the partition to catch up");
      assert.deepEqual(witness.sequences(0), before);
      const after = await appendAll(fixture, log, 0, ["d", "e"], before.at(-1));
      await fixture.settle(Promise.resolve(witness.tail.hurry()));
      await fixture.until(() => witness.messages.length === 252, "two more messages");
      assert.deepEqual(witness.sequences(0), [...before, ...after]);
      assert.deepEqual(witness.resets, []);
    },
  },
  {
    title: "a tail that rests goes on after silences and interruptions, without a gap and without a duplicate",
    async show(fixture) {
      const [writer, reader] = [fixture.connect(), fixture.connect()];
      await using witness = new TailWitness(reader, new Map([[0, 0n]]), 1);
      const told: bigint[] = [];
      for (let round = 0; round < 3; round += 1) {
        told.push(...(await appendAll(fixture, writer, 0, ["a", "b"], told.at(-1))));
        await fixture.until(() => witness.messages.length === told.length, "the messages of a round");
        await fixture.interrupt(reader);
      }
      assert.deepEqual(witness.sequences(0), told);
      assert.deepEqual(witness.resets, []);
    },
  },
  {
    title: "a tail from before a purge is reset and silent until it is resumed; others go on",
    async show(fixture) {
      const log = fixture.connect();
      const zero = await appendAll(fixture, log, 0, ["a", "b", "c"]);
      const one = await appendAll(fixture, log, 1, ["d"]);
      await fixture.purge(0, zero[2] ?? 0n);
      await using witness = new TailWitness(log, new Map([0, 1].map((partition) => [partition, 0n])));
      await fixture.until(() => witness.resets.length === 1 && witness.messages.length === 1, "the reset");
      assert.equal(witness.resets[0]?.partition, 0);
      assert.deepEqual(witness.sequences(1), one);
      const later = await appendAll(fixture, log, 0, ["e"], zero[2]);
      await appendAll(fixture, log, 1, ["f"], one[0]);
      await fixture.until(() => witness.messages.length === 2, "the other partition's message");
      assert.deepEqual(witness.sequences(0), []);
      witness.tail.resume(0, zero[2] ?? 0n);
      await fixture.until(() => witness.sequences(0).length === 1, "the message after the resume");
      assert.deepEqual(witness.sequences(0), later);
      assert.equal(witness.sequences(1).length, 2);
      await fixture.until(() => witness.caughtUp.includes(0), "the resumed partition to catch up");
    },
  },
  {
    title: "a purge of what a tail has been told resets nothing",
    async show(fixture) {
      const log = fixture.connect();
      const zero = await appendAll(fixture, log, 0, ["a", "b", "c"]);
      await using witness = new TailWitness(log, new Map([[0, zero[1] ?? 0n]]));
      await fixture.until(() => witness.messages.length === 1, "the first message");
      await fixture.purge(0, zero[2] ?? 0n);
      await fixture.interrupt(log);
      const later = await appendAll(fixture, log, 0, ["d"], zero[2]);
      await fixture.until(() => witness.messages.length === 2, "the message after the purge");
      assert.deepEqual(witness.sequences(0), [...zero.slice(2), ...later]);
      assert.deepEqual(witness.resets, []);
    },
  },
  {
    title: "a tail that is disposed of tells nothing more",
    async show(fixture) {
      const log = fixture.connect();
      const ended = new TailWitness(log, new Map([[0, 0n]]));
      await fixture.until(() => ended.caughtUp.length === 1, "the tail to begin");
      await ended[Symbol.asyncDispose]();
      await using witness = new TailWitness(log, new Map([[0, 0n]]));
      await appendAll(fixture, log, 0, ["a"]);
      await fixture.until(() => witness.messages.length === 1, "the other tail's message");
      assert.deepEqual(ended.messages, []);
    },
  },
];

/** What every log transport promises. */
export const logTransportContract = cases;
