import { defineConfig } from "@tenure/runtime";

/** What the election service has beside the fields of every service. */
export const electionFields = defineConfig({
  shards: {
    kind: "integer",
    default: 16,
    min: 1,
    max: 1_024,
    doc: "Parts that leases are divided into, each coordinated by one replica. The same for all replicas.",
  },
  shardLeaseDurationMs: {
    kind: "duration",
    default: "5s",
    min: "2s",
    max: "1m",
    doc: "Duration of the lease on a part; how long elections wait at most when a replica dies.",
  },
  stepDownCoolDownMs: {
    kind: "duration",
    default: "1m",
    min: "0s",
    max: "1d",
    doc: "How long a holder that an operator made finish is not elected again, if neither request nor lease say.",
  },
  commandsUnderWay: {
    kind: "integer",
    default: 256,
    min: 1,
    max: 10_000,
    doc: "Commands that a replica has under way at once; further leases wait for their turn.",
  },
  observers: {
    kind: "integer",
    default: 10_000,
    min: 1,
    max: 10_000_000,
    doc: "Observers that this replica serves at once.",
  },
  keptChanges: {
    kind: "integer",
    default: 1_000,
    min: 1,
    max: 10_000_000,
    doc: "Changed records that are kept for lists that go on.",
  },
});
