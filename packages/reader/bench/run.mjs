import { encodeBatch, LeaseServiceListRequest, LeaseServiceWatchRequest } from "@tenure/contracts";
import {
  commitBatch,
  defaultLeaseSpec,
  emptyPartition,
  execute,
  executePackedRenewal,
  openBatch,
  ownPartition,
  partitionOf,
} from "@tenure/core";
import { systemClock, systemRandom } from "@tenure/kernel";
import { LogReader, listLeases, logDecoder, Watches } from "@tenure/reader";

/**
 * What a reader of the log costs, in one process and without a network: `node --expose-gc bench/run.mjs`.
 * Batches are decided and encoded by an owner first, and only their reading is measured.
 */
const partitions = 8;
const incarnationId = "bench";
const clock = systemClock;
const owners = Array.from({ length: partitions }, (_, partition) =>
  ownPartition(emptyPartition(partition, clock.now()), clock.now(), clock.wall()),
);
let sequence = 1_000n;

/** Decides commands of one partition in a batch; gives the message of the log. */
function decide(partition, commands, renewals = []) {
  const owned = owners[partition];
  openBatch(owned, clock.now(), clock.wall());
  for (const command of commands) execute(owned, { ...command, principal: "bench" }, clock.now());
  for (const holdIds of renewals)
    executePackedRenewal(owned, { principal: "bench", holdIds, sendNumber: 1n }, clock.now());
  const { batch, state } = owned;
  const header = {
    partition,
    epoch: state.epoch,
    prev: batch.prev,
    prevBatchId: batch.prevBatchId,
    wallMs: clock.wall(),
    snapshot: undefined,
  };
  const ids = { batchId: sequence.toString(16).padStart(32, "0"), writer: "bench", incarnationId };
  const payload = encodeBatch({ ...header, ...ids, events: batch.events });
  sequence += 1n;
  commitBatch(owned, sequence, ids.batchId);
  return { partition, sequence, payload };
}

const nothing = { [Symbol.asyncDispose]: async () => {}, liveSinceMs: 0, resume() {} };
const ports = {
  clock,
  random: systemRandom,
  transport: { readLast: async () => undefined, tail: () => nothing },
  snapshots: { get: () => Promise.reject(new Error("there is none")) },
  codec: logDecoder,
};

async function newReader() {
  const reader = new LogReader(ports, { incarnationId, partitions, keptChanges: 10_000 });
  await reader.start();
  for (let partition = 0; partition < partitions; partition += 1) reader.onCaughtUp(partition);
  return reader;
}

const read = (reader, { partition, payload, sequence: at }) => reader.onMessage(partition, at, payload);
const acquire = (lease) => ({
  kind: "acquire",
  claims: [{ lease, mode: "exclusive", units: 1 }],
  claimant: { holder: "bench" },
  sendNumber: 1n,
});
const label = (lease, tier, owned) => ({
  kind: "update",
  lease,
  expectedRevision: owned.state.leases.get(lease).revision.sequence,
  expectedUid: undefined,
  spec: { labels: { tier } },
  createIfAbsent: false,
});

const say = (what, text) => process.stdout.write(`${what.padEnd(58)} ${text}\n`);
const ms = (value) => `${value.toFixed(1)} ms`;
const quantile = (values, share) =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length * share)] ?? 0;

/** Many watchers of one lease: from the message of a change until the last of them has its bytes. */
async function fanOut(reader, watchers, rounds) {
  const lease = "bench/lease-0";
  const partition = partitionOf(lease, partitions);
  const watches = new Watches(reader, { watchers, queuedPerWatcher: 100 });
  const request = LeaseServiceWatchRequest.fromPartial({ selectors: [{ namespace: "bench", name: "lease-0" }] });
  const stops = Array.from({ length: watchers }, () => new AbortController());
  let told = 0;
  let onTold = () => {};
  const readings = stops.map(async ({ signal }) => {
    for await (const bytes of watches.leases(request, signal)) {
      told += bytes.length > 0 ? 1 : 0;
      if (told === wanted) onTold();
    }
  });
  let wanted = 2 * watchers;
  const all = () =>
    new Promise((resolve) => {
      onTold = resolve;
      if (told >= wanted) resolve();
    });
  await all();
  const took = [];
  const used = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const message = decide(partition, [label(lease, String(round), owners[partition])]);
    wanted += watchers;
    const sinceMs = clock.now();
    read(reader, message);
    await all();
    took.push(clock.now() - sinceMs);
  }
  const { system, user } = process.cpuUsage(used);
  for (const stop of stops) stop.abort(new Error("enough"));
  await Promise.allSettled(readings);
  say(
    `a change to ${watchers.toLocaleString("en")} watchers of one lease`,
    `p50 ${ms(quantile(took, 0.5))}  p99 ${ms(quantile(took, 0.99))}  cpu ${ms((system + user) / 1_000 / rounds)} each`,
  );
}

/** What reading changes costs with many watchers of other leases. */
async function readWith(reader, watchers) {
  const watches = new Watches(reader, { watchers: watchers + 1, queuedPerWatcher: 100 });
  const stop = new AbortController();
  const readings = [];
  for (let index = 0; index < watchers; index += 1) {
    const request = LeaseServiceWatchRequest.fromPartial({
      selectors: [{ namespace: "bench", name: `lease-${index}` }],
    });
    const reading = watches.leases(request, stop.signal);
    for (let response = 0; response < 2; response += 1) await reading.next();
    readings.push(reading.next().catch(() => undefined));
  }
  const names = Array.from({ length: 20_000 }, (_, index) => `bench/lease-${50_000 + index}`);
  const messages = names.map((lease) => {
    const partition = partitionOf(lease, partitions);
    return decide(partition, [label(lease, `${watchers}`, owners[partition])]);
  });
  const sinceMs = clock.now();
  for (const message of messages) read(reader, message);
  const perSecond = messages.length / ((clock.now() - sinceMs) / 1_000);
  say(
    `batches of one change, ${watchers.toLocaleString("en")} watchers of other leases`,
    `${Math.round(perSecond).toLocaleString("en")}/s`,
  );
  stop.abort(new Error("enough"));
  await Promise.all(readings);
}

async function list(reader, size) {
  const { signal } = new AbortController();
  const took = [];
  let token = "";
  let count = 0;
  const used = process.cpuUsage();
  do {
    const sinceMs = clock.now();
    const { leases, page } = await listLeases(reader, LeaseServiceListRequest.fromPartial({ page: { size, token } }), {
      signal,
    });
    took.push(clock.now() - sinceMs);
    count += leases.length;
    token = page.nextToken;
  } while (token !== "");
  const { system, user } = process.cpuUsage(used);
  say(
    `a list of ${count.toLocaleString("en")} leases in pages of ${size}`,
    `${took.length} pages, p50 ${ms(quantile(took, 0.5))}  cpu ${ms((system + user) / 1_000 / took.length)} each`,
  );
}

const leases = Array.from({ length: 100_000 }, (_, index) => `bench/lease-${index}`);
const messages = [];
for (let partition = 0; partition < partitions; partition += 1) {
  messages.push(decide(partition, [{ kind: "takeOver", epoch: 1n, owner: "bench", isHandedOver: false }]));
  const names = leases.filter((lease) => partitionOf(lease, partitions) === partition);
  for (let from = 0; from < names.length; from += 500) {
    messages.push(
      decide(
        partition,
        names.slice(from, from + 500).map((lease) => ({ kind: "create", lease, spec: defaultLeaseSpec })),
      ),
    );
  }
}
const reader = await newReader();
globalThis.gc?.();
const before = process.memoryUsage();
const startMs = clock.now();
for (const message of messages) read(reader, message);
say("100,000 leases read from the log", ms(clock.now() - startMs));
globalThis.gc?.();
const after = process.memoryUsage();
say(
  "heap of the reader's copy",
  `${Math.round((after.heapUsed - before.heapUsed) / leases.length)} bytes per idle lease`,
);
await list(reader, 500);
await list(reader, 5_000);
await readWith(reader, 0);
await readWith(reader, 10_000);
await fanOut(reader, 1_000, 100);
await fanOut(reader, 10_000, 20);
const holds = new Map();
for (const lease of leases.slice(0, 10_000)) {
  const partition = partitionOf(lease, partitions);
  read(reader, decide(partition, [acquire(lease)]));
  const [hold] = owners[partition].state.leases.get(lease).holds;
  holds.set(partition, [...(holds.get(partition) ?? []), hold.id]);
}
const renewals = Array.from({ length: 50 }, () =>
  [...holds].map(([partition, ids]) => decide(partition, [], [ids])),
).flat();
const sinceMs = clock.now();
for (const message of renewals) read(reader, message);
const renewed = 50 * 10_000;
say(
  "renewals of 10,000 terms, packed, nobody wants them",
  `${Math.round(renewed / ((clock.now() - sinceMs) / 1_000)).toLocaleString("en")} terms/s`,
);
process.exit(0);
