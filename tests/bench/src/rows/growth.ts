import type { Benchmark, Figures, Row, RunOptions, Side } from "../benchmark.ts";
import { median, quantile } from "../statistics.ts";
import { type PairsDone, StoreSide, type WorkDone } from "../world/store-side.ts";

const few = 1_000;
const many = 100_000;
/** A quick run compares with this many instead. */
const quickMany = 20_000;

/** Pairs and messages of renewals of one slice. */
const slicePairs = 512;
const sliceMessages = 480;

/** The round's figures: both sizes are one side, because they take turns within a round. */
function figure(name: string): Row["read"] {
  return ({ sizes }) => sizes?.[name];
}

const flat = { atMost: 1.3 };

const rows: readonly Row[] = [
  {
    name: "pair, time",
    measures: "time of an acquire + release pair, many leases against few, 64 pairs in flight on random leases",
    unit: "x",
    read: figure("pairGrowth"),
    target: flat,
  },
  {
    name: "pair, CPU",
    measures: "CPU of the lease-store process per pair, many leases against few, its share of snapshots among it",
    unit: "x",
    read: figure("pairCpuGrowth"),
    target: flat,
  },
  {
    name: "renewal, time",
    measures: "time of a packed renewal, many leases against few, 40 random holds a message, 8 messages in flight",
    unit: "x",
    read: figure("renewalGrowth"),
    target: flat,
  },
  {
    name: "renewal, CPU",
    measures: "CPU of the lease-store process per renewal, many leases against few, its share of snapshots among it",
    unit: "x",
    read: figure("renewalCpuGrowth"),
    target: flat,
  },
  {
    name: "pairs",
    measures: "acquire + release pairs a second with many leases, through the benchmark's one client process",
    unit: "/s",
    read: figure("pairsPerSecond"),
  },
  {
    name: "pair p99",
    measures:
      "99th percentile of the time of one acquire or release with many leases, 64 in flight, snapshots being made",
    unit: "ms",
    read: figure("p99Ms"),
  },
  {
    name: "longest stall",
    measures: "longest time that the lease store's event loop stood still while the pairs ran and snapshots were made",
    unit: "ms",
    read: figure("stallMs"),
  },
  {
    name: "start-up",
    measures: "start of a fresh replica's process to its /readyz answering 200, many leases, from a snapshot",
    unit: "ms",
    read: figure("readyMs"),
    target: { atMost: 5_000 },
  },
  {
    name: "start-up, CPU",
    measures: "CPU of that process until then, which does not depend on what else the machine does",
    unit: "ms",
    read: figure("readyCpuMs"),
  },
  {
    name: "expiry lag p99",
    measures: "commit of the end of a term after it was due, by the owner's clock, 10,000 terms due in one second",
    unit: "ms",
    read: figure("expiryLagMs"),
    target: { atMost: 100 },
  },
  {
    name: "expiry, CPU",
    measures: "CPU of the lease-store process per 1,000 terms that it ended then, with what it does beside",
    unit: "ms/1000",
    read: figure("expiryCpuMs"),
  },
];

/** What an operation costs, how long a start takes and how late terms end, when there are very many leases. */
export const growth: Benchmark = {
  name: "growth",
  summary: "one lease-store process with few leases and one with many",
  settings: (options) => [
    `few: ${few} leases; many: ${manyOf(options)} leases; half of them held, half free`,
    "one NATS server each, every write synced; one lease-store replica with 8 partitions; calls over the bus",
    "a snapshot of a partition after 1,000 batches of it, once they take as long to read as the one before",
    `both take turns in slices of ${slicePairs} pairs, 64 in flight, and of ${sliceMessages} messages of 40 renewals, 8 in flight`,
    "pairs are on random free leases, renewals of random holds of one client; every call is acknowledged after its append",
    "CPU is user and system time of all threads of the lease-store process, collector and compiler included",
    "terms due in one second: 10,000 of leases that were free, each with a duration of its own, no other calls meanwhile",
  ],
  sides: [{ name: "sizes", start: startSizes }],
  rows,
};

function manyOf({ isQuick, leases }: RunOptions): number {
  return leases ?? (isQuick ? quickMany : many);
}

async function startSizes(options: RunOptions): Promise<Side> {
  const small = await StoreSide.start(few, options);
  const large = await StoreSide.start(manyOf(options), options);
  const slices = options.isQuick ? 6 : 16;
  return {
    async measure() {
      const pairs = await inTurns(slices, small, large, (side) => side.pairs(slicePairs));
      const renewals = await inTurns(slices, small, large, (side) => side.renewals(sliceMessages));
      return {
        ...growthOf("pair", pairs),
        ...growthOf("renewal", renewals),
        ...pairFigures(pairs.map(({ large: done }) => done)),
        ...(await large.freshStart()),
        ...(await large.expiries(10_000)),
      };
    },
    async [Symbol.asyncDispose]() {
      await large[Symbol.asyncDispose]();
      await small[Symbol.asyncDispose]();
    },
  };
}

interface Slice<Done> {
  readonly small: Done;
  readonly large: Done;
}

/** The same work on both sizes, slice by slice, so that what else the machine does meets both alike. */
async function inTurns<Done>(
  slices: number,
  small: StoreSide,
  large: StoreSide,
  work: (side: StoreSide) => Promise<Done>,
): Promise<readonly Slice<Done>[]> {
  const done: Slice<Done>[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    if (slice % 2 === 0) {
      const first = await work(small);
      done.push({ small: first, large: await work(large) });
    } else {
      const first = await work(large);
      done.push({ small: await work(small), large: first });
    }
  }
  return done;
}

/** How much more an operation costs with many leases: time as the median of slices; CPU, which is counted coarsely, of all. */
function growthOf(name: string, slices: readonly Slice<WorkDone>[]): Figures {
  const tookEach = ({ count, tookMs }: WorkDone) => tookMs / count;
  const cpuOf = (size: "small" | "large") => sum(slices.map((slice) => slice[size].cpuMs));
  const countOf = (size: "small" | "large") => sum(slices.map((slice) => slice[size].count));
  const cpuEach = { small: cpuOf("small") / countOf("small"), large: cpuOf("large") / countOf("large") };
  return {
    [`${name}Growth`]: median(slices.map(({ large, small }) => tookEach(large) / tookEach(small))),
    [`${name}CpuGrowth`]: cpuEach.large / cpuEach.small,
    [`${name}CpuMicros`]: cpuEach.large * 1_000,
  };
}

function pairFigures(done: readonly PairsDone[]): Figures {
  return {
    pairsPerSecond: (1_000 * sum(done.map(({ count }) => count))) / sum(done.map(({ tookMs }) => tookMs)),
    p99Ms: quantile(
      done.flatMap(({ callsMs }) => callsMs),
      0.99,
    ),
    stallMs: Math.max(...done.map(({ stallMs }) => stallMs)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
