import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { CommittedBatch } from "./replica/partition-owner.ts";
import type { StoreReplica } from "./replica/store-replica.ts";
import type { WatchHub } from "./watch/watch-hub.ts";

/** What a lease store counts beside what every service does. */
export class StoreMetrics {
  readonly #registry: Registry;
  readonly #appends: Counter;
  readonly #events: Histogram;
  readonly #seconds: Histogram;
  readonly #expiries: Counter;
  readonly #faults: Counter<"doing">;

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    this.#appends = new Counter({ name: "tenure_appends_total", help: "Batches that were committed.", registers });
    this.#events = new Histogram({
      name: "tenure_batch_events",
      help: "Events of a committed batch.",
      buckets: [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
      registers,
    });
    this.#seconds = new Histogram({
      name: "tenure_append_seconds",
      help: "From the first try of an append to its acknowledgement.",
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
      registers,
    });
    this.#expiries = new Counter({ name: "tenure_expiries_total", help: "Terms that ended by time.", registers });
    this.#faults = new Counter({
      name: "tenure_partition_faults_total",
      help: "What failed about partitions, by what was being done.",
      labelNames: ["doing"],
      registers,
    });
  }

  /** Counts a committed batch. */
  noteCommitted({ batch, tookMs }: CommittedBatch): void {
    this.#appends.inc();
    this.#events.observe(batch.events.length);
    this.#seconds.observe(tookMs / 1_000);
    for (const event of batch.events) {
      if (event.kind === "holdEnded" && event.endReason === "expired") this.#expiries.inc();
    }
  }

  noteFault(doing: string): void {
    this.#faults.inc({ doing });
  }

  /** Shows what a replica has at present, whenever it is asked. */
  show(replica: StoreReplica, hub: WatchHub): void {
    const { partitions } = replica;
    this.#gauge("tenure_owned_partitions", "Partitions that this replica owns.", () => {
      return partitions.filter(({ role }) => role === "owning").length;
    });
    this.#gauge("tenure_followed_partitions", "Partitions that this replica has caught up with.", () => {
      return partitions.filter(({ role }) => role !== "loading" && role !== "halted").length;
    });
    this.#gauge("tenure_leases", "Lease names that this replica keeps.", () => {
      return partitions.reduce((count, { state }) => count + state.leases.size, 0);
    });
    this.#gauge("tenure_waiters", "Claims that wait at this replica.", () => {
      return partitions.reduce((count, { waiting }) => count + waiting, 0);
    });
    this.#gauge("tenure_queued_calls", "Calls that wait for their batch.", () => {
      return partitions.reduce((count, { queued }) => count + queued, 0);
    });
    this.#gauge("tenure_watchers", "Watches that this replica serves.", () => hub.watchers);
    this.#gauge("tenure_revision", "Log position up to which this replica has read.", () => Number(replica.revision));
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }
}
