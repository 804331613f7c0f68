import type { CompactionResult, LogSize } from "@tenure/log";
import type { Watches } from "@tenure/reader";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { CommittedBatch } from "./replica/owner-listener.ts";
import type { StoreReplica } from "./replica/store-replica.ts";
import { TermMetrics } from "./term-metrics.ts";

/** What a lease store counts beside what every service does. */
export class StoreMetrics {
  readonly #registry: Registry;
  readonly #appends: Counter;
  readonly #events: Histogram;
  readonly #seconds: Histogram;
  readonly #expiries: Counter;
  readonly #expiryLag: Histogram;
  readonly #faults: Counter<"doing">;
  readonly #purged: Counter<"what">;
  readonly #terms: TermMetrics;

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
    this.#expiryLag = new Histogram({
      name: "tenure_store_expiry_lag_seconds",
      help: "From when a term was due to end for want of renewals, by the owner's clock, to the commit of its end.",
      buckets: [0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.5, 1, 2, 5, 10],
      registers,
    });
    this.#faults = new Counter({
      name: "tenure_partition_faults_total",
      help: "What failed about partitions, by what was being done.",
      labelNames: ["doing"],
      registers,
    });
    this.#purged = new Counter({
      name: "tenure_store_purged_total",
      help: "Messages that this replica had purged below a snapshot: of the log, and of snapshots.",
      labelNames: ["what"],
      registers,
    });
    this.#terms = new TermMetrics(registry);
  }

  /** Counts a committed batch. */
  noteCommitted({ batch, expiryLagsMs, tookMs }: CommittedBatch): void {
    this.#appends.inc();
    this.#events.observe(batch.events.length);
    this.#seconds.observe(tookMs / 1_000);
    this.#terms.note(batch.events);
    for (const lagMs of expiryLagsMs) this.#expiryLag.observe(lagMs / 1_000);
    for (const event of batch.events) {
      if (event.kind === "holdEnded" && event.endReason === "expired") this.#expiries.inc();
    }
  }

  noteFault(doing: string): void {
    this.#faults.inc({ doing });
  }

  notePurged({ logMessages, snapshotMessages }: CompactionResult): void {
    this.#purged.inc({ what: "log" }, logMessages);
    this.#purged.inc({ what: "snapshots" }, snapshotMessages);
  }

  /** Shows how full the log is, asking for it at each scrape; what is not answered stays as it was. */
  showLog(readSize: () => Promise<LogSize>): void {
    const registers = [this.#registry];
    const limit = new Gauge({
      name: "tenure_log_limit_bytes",
      help: "Size at which the log takes no more appends; 0 without one.",
      registers,
    });
    new Gauge({
      name: "tenure_log_bytes",
      help: "Size of the log of all partitions.",
      registers,
      async collect() {
        const size = await readSize().catch(() => undefined);
        if (size === undefined) return;
        this.set(size.bytes);
        limit.set(size.limitBytes ?? 0);
      },
    });
  }

  /** Shows what a replica has at present, whenever it is asked. */
  show(replica: StoreReplica, watches: Watches): void {
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
    this.#gauge("tenure_watchers", "Watches that this replica serves.", () => watches.open);
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
