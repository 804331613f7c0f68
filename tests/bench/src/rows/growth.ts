import type { Benchmark, Figures, Row, RunOptions, Side } from "../benchmark.ts";
import { StoreSide } from "../world/store-side.ts";

const few = 1_000;
const many = 100_000;
/** A quick run compares with this many instead. */
const quickMany = 20_000;

type Round = Readonly<Record<string, Figures>>;

/** How much more a figure is with many leases than with few. */
function growthOf(figure: string) {
  return ({ few: small, many: large }: Round) => (large?.[figure] ?? Number.NaN) / (small?.[figure] ?? Number.NaN);
}

function ofMany(figure: string) {
  return ({ many: large }: Round) => large?.[figure];
}

const flat = { atMost: 1.3 };

const rows: readonly Row[] = [
  {
    name: "pair, time",
    measures: "time of an acquire + release pair, many leases against few, 64 pairs in flight on random leases",
    unit: "x",
    read: growthOf("pairMs"),
    target: flat,
  },
  {
    name: "pair, CPU",
    measures: "CPU of the lease-store process per pair, many leases against few",
    unit: "x",
    read: growthOf("pairCpuMs"),
    target: flat,
  },
  {
    name: "renewal, time",
    measures: "time of a packed renewal, many leases against few, 100 random holds a message, 8 messages in flight",
    unit: "x",
    read: growthOf("renewalMs"),
    target: flat,
  },
  {
    name: "renewal, CPU",
    measures: "CPU of the lease-store process per renewal, many leases against few",
    unit: "x",
    read: growthOf("renewalCpuMs"),
    target: flat,
  },
  {
    name: "pairs",
    measures: "acquire + release pairs a second with many leases, through the benchmark's one client process",
    unit: "/s",
    read: ofMany("pairsPerSecond"),
  },
  {
    name: "pair p99",
    measures:
      "99th percentile of the time of one acquire or release with many leases, 64 in flight, snapshots being made",
    unit: "ms",
    read: ofMany("p99Ms"),
  },
  {
    name: "longest stall",
    measures: "longest time that the lease store's event loop stood still while the pairs ran and snapshots were made",
    unit: "ms",
    read: ofMany("stallMs"),
  },
  {
    name: "start-up",
    measures: "start of a fresh replica's process to its /readyz answering 200, many leases, from a snapshot",
    unit: "ms",
    read: ofMany("readyMs"),
    target: { atMost: 5_000 },
  },
  {
    name: "start-up, CPU",
    measures: "CPU of that process until then, which does not depend on what else the machine does",
    unit: "ms",
    read: ofMany("readyCpuMs"),
  },
  {
    name: "expiry lag p99",
    measures: "commit of the end of a term after it was due, by the owner's clock, 10,000 terms due in one second",
    unit: "ms",
    read: ofMany("expiryLagMs"),
    target: { atMost: 100 },
  },
  {
    name: "expiry, CPU",
    measures: "CPU of the lease-store process per 1,000 terms that it ended then, with what it does while it waits",
    unit: "ms/1000",
    read: ofMany("expiryCpuMs"),
  },
];

/** What an operation costs, how long a start takes and how late terms end, when there are very many leases. */
export const growth: Benchmark = {
  name: "growth",
  summary: "one lease-store process with few leases and one with many",
  settings: ({ isQuick }) => [
    `few: ${few} leases; many: ${isQuick ? quickMany : many} leases; half of them held, half free`,
    "one NATS server each, every write synced; one lease-store replica with 8 partitions; calls over the bus",
    "a snapshot of a partition after 1,000 batches of it",
  ],
  sides: [
    { name: "few", start: (options) => startSide(few, options) },
    { name: "many", start: (options) => startSide(options.isQuick ? quickMany : many, options) },
  ],
  rows,
};

async function startSide(leases: number, options: RunOptions): Promise<Side> {
  const side = await StoreSide.start(leases, options);
  const pairs = options.isQuick ? 2_000 : 6_000;
  const messages = options.isQuick ? 200 : 600;
  return {
    async measure() {
      const figures = { ...(await side.pairs(pairs)), ...(await side.renewals(messages)) };
      if (leases === few) return figures;
      return { ...figures, ...(await side.freshStart()), ...(await side.expiries(10_000)) };
    },
    [Symbol.asyncDispose]: () => side[Symbol.asyncDispose](),
  };
}
