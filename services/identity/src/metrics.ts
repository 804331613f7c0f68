import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Directory } from "./directory/directory.ts";

/** What the identity service counts. Per component, never per instance: a fleet is larger than a set of series may be. */
export class IdentityMetrics {
  readonly #registry: Registry;
  readonly #age: Histogram;
  readonly #calls: Histogram<"method">;
  readonly #collected: Counter<"kind">;
  readonly #spared: Counter<"kind">;
  readonly #lag: Histogram<"kind">;
  readonly #removed: Counter<"kind">;
  readonly #heldBack: Gauge<"reason">;

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    this.#age = new Histogram({
      name: "tenure_identity_beat_age_seconds",
      help: "Age of an instance's last beat whenever it is looked at, which is once per three beats.",
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3_600],
      registers,
    });
    this.#calls = new Histogram({
      name: "tenure_identity_call_seconds",
      help: "Time that registrations and departures take, store included.",
      labelNames: ["method"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    });
    const kind = ["kind"] as const;
    this.#collected = new Counter({
      name: "tenure_identity_collected_total",
      help: "Records that were collected.",
      labelNames: kind,
      registers,
    });
    this.#spared = new Counter({
      name: "tenure_identity_spared_total",
      help: "Records that looked dead and were spared by their owner's judgement.",
      labelNames: kind,
      registers,
    });
    this.#lag = new Histogram({
      name: "tenure_identity_collection_lag_seconds",
      help: "From when a record could have been collected to when it was.",
      labelNames: kind,
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600],
      registers,
    });
    this.#removed = new Counter({
      name: "tenure_identity_dependents_removed_total",
      help: "Leases, terms and candidates that went with their identity.",
      labelNames: kind,
      registers,
    });
    this.#heldBack = new Gauge({
      name: "tenure_identity_collection_held_back",
      help: "1 while collection holds back for the reason.",
      labelNames: ["reason"],
      registers,
    });
  }

  /** Shows how many instances there are. */
  show(directory: Directory, isCollector: () => boolean): void {
    const registers = [this.#registry];
    new Gauge({
      name: "tenure_identity_instances",
      help: "Instances by component and liveness.",
      labelNames: ["component", "liveness"],
      registers,
      collect() {
        this.reset();
        for (const [component, { expired, live, silent }] of directory.counts) {
          this.set({ component, liveness: "live" }, live);
          this.set({ component, liveness: "silent" }, silent);
          this.set({ component, liveness: "expired" }, expired);
        }
      },
    });
    new Gauge({
      name: "tenure_identity_collector",
      help: "1 on the replica that collects.",
      registers,
      collect() {
        this.set(isCollector() ? 1 : 0);
      },
    });
  }

  noteBeatAge(ageMs: number): void {
    this.#age.observe(ageMs / 1_000);
  }

  noteCall(method: string, tookMs: number): void {
    this.#calls.observe({ method }, tookMs / 1_000);
  }

  noteCollected(kind: string, lagMs: number): void {
    this.#collected.inc({ kind });
    this.#lag.observe({ kind }, lagMs / 1_000);
  }

  noteSpared(kind: string): void {
    this.#spared.inc({ kind });
  }

  noteRemoved(kind: string): void {
    this.#removed.inc({ kind });
  }

  noteHoldBack(reason: string | undefined): void {
    this.#heldBack.reset();
    if (reason !== undefined) this.#heldBack.set({ reason }, 1);
  }
}
