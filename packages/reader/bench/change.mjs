import { decodeBatch, encodeBatch } from "@tenure/contracts";
import { commitBatch, emptyPartition, execute, openBatch, ownPartition } from "@tenure/core";
import { systemClock as clock, systemRandom as random } from "@tenure/kernel";
import { LogReader, logDecoder } from "@tenure/reader";

/**
 * What one change of an acquire + release pair costs in CPU, step by step, in one process and without a network:
 * `node bench/change.mjs`. Eight changes a batch, eight partitions. The first rounds show code that is not compiled yet.
 */
const partitions = 8;
const perBatch = 8;
const batchesPerRound = 2_400;
const rounds = 5;
const incarnationId = "bench";

const owners = Array.from({ length: partitions }, (_, partition) =>
  ownPartition(emptyPartition(partition, clock.now()), clock.now(), clock.wall()),
);
let sequence = 1_000n;
let attempts = 0n;
const spentMicros = { decided: 0, encoded: 0, decoded: 0, followed: 0 };

function spend(what, act) {
  const before = process.cpuUsage();
  const result = act();
  const { system, user } = process.cpuUsage(before);
  spentMicros[what] += system + user;
  return result;
}

/** Decides commands of one partition in a batch; gives the replies and the message of the log. */
function commit(partition, commands) {
  const owned = owners[partition];
  openBatch(owned, clock.now(), clock.wall());
  const replies = spend("decided", () => commands.map((command) => execute(owned, command, clock.now())));
  const { batch, state } = owned;
  const { events, prev, prevBatchId } = batch;
  const ids = { batchId: sequence.toString(16).padStart(32, "0"), prev, prevBatchId, writer: "bench", incarnationId };
  const header = { partition, epoch: state.epoch, wallMs: clock.wall(), snapshot: undefined };
  const payload = spend("encoded", () => encodeBatch({ ...header, ...ids, events }));
  sequence += 1n;
  commitBatch(owned, sequence, ids.batchId);
  return { replies, message: { partition, sequence, payload } };
}

function header() {
  attempts += 1n;
  const settledBelow = attempts > 128n ? attempts - 128n : 0n;
  return { principal: "bench", attempt: { clientId: "client-0123456789abcdef", number: attempts, settledBelow } };
}

const claimant = { holder: "host-1" };
const acquire = (lease) => {
  const claims = [{ lease, mode: "exclusive", units: 1 }];
  return { kind: "acquire", claims, claimant, sendNumber: 1n, ...header() };
};
const release = (lease, token) => ({ kind: "release", items: [{ lease, token }], ...header() });

/** Acquires and releases all leases of each partition, again and again. */
function pairs() {
  const messages = [];
  while (messages.length < batchesPerRound) {
    for (let partition = 0; partition < partitions; partition += 1) {
      const leases = Array.from({ length: perBatch }, (_, index) => `bench/pair-${partition}-${index}`);
      const acquired = commit(partition, leases.map(acquire));
      const tokens = acquired.replies.map(({ grants }) => grants[0].token);
      const released = commit(
        partition,
        leases.map((lease, index) => release(lease, tokens[index])),
      );
      messages.push(acquired.message, released.message);
    }
  }
  return messages;
}

const nothing = { [Symbol.asyncDispose]: async () => {}, liveSinceMs: 0, resume() {} };
const transport = { readLast: async () => undefined, tail: () => nothing };
const snapshots = { get: () => Promise.reject(new Error("there is none")) };
const reader = new LogReader(
  { clock, random, transport, snapshots, codec: logDecoder },
  { incarnationId, partitions, keptChanges: 10_000 },
);
await reader.start();
const follow = ({ partition, payload, sequence: at }) => reader.onMessage(partition, at, payload);
for (let partition = 0; partition < partitions; partition += 1) {
  reader.onCaughtUp(partition);
  const takeOver = { kind: "takeOver", epoch: 1n, owner: "bench", isHandedOver: true, principal: "" };
  follow(commit(partition, [takeOver]).message);
}

for (let round = 1; round <= rounds; round += 1) {
  for (const what in spentMicros) spentMicros[what] = 0;
  const messages = pairs();
  spend("decoded", () => messages.map(({ payload, sequence: at }) => decodeBatch(at, payload).sequence));
  spend("followed", () => messages.map(follow));
  const each = Object.entries(spentMicros).map(
    ([what, micros]) => `${what} ${(micros / (messages.length * perBatch)).toFixed(1)} µs`,
  );
  process.stdout.write(`round ${round}: a change is ${each.join(", ")}\n`);
}
