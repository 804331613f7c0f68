import type { ElectionDecision } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** What an election service counts beside what every service does. */
export class ElectionMetrics {
  readonly #registry: Registry;
  readonly #looks: Counter;
  readonly #decisions: Counter<"outcome">;
  readonly #refused: Counter<"reason">;
  readonly #seconds: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#registry = registry;
    this.#looks = new Counter({ name: "tenure_election_looks_total", help: "Times a lease was looked at.", registers });
    this.#decisions = new Counter({
      name: "tenure_election_decisions_total",
      help: "Decisions that were carried out.",
      labelNames: ["outcome"],
      registers,
    });
    this.#refused = new Counter({
      name: "tenure_election_refused_total",
      help: "Decisions that the store refused, mostly because the lease had changed meanwhile.",
      labelNames: ["reason"],
      registers,
    });
    this.#seconds = new Histogram({
      name: "tenure_election_command_seconds",
      help: "Time from a decision to its answer from the store.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5],
      registers,
    });
  }

  /** Shows what is looked up when it is asked for. */
  show(values: {
    readonly shards: () => number;
    /** Those that nobody has coordinated for as long as raises the alarm. */
    readonly uncoordinatedShards: () => number;
    readonly leases: () => number;
    readonly observers: () => number;
  }): void {
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        collect() {
          this.set(value());
        },
      });
    gauge("tenure_election_shards", "Shards that this replica coordinates.", values.shards);
    gauge(
      "tenure_election_uncoordinated_shards",
      "Shards that nobody has coordinated for 15 s, as far as this replica sees: of their leases nobody is elected.",
      values.uncoordinatedShards,
    );
    gauge("tenure_election_leases", "Leases that this replica looks after.", values.leases);
    gauge("tenure_election_observers", "Observers that are served.", values.observers);
  }

  noteLook(): void {
    this.#looks.inc();
  }

  noteDone({ outcome }: ElectionDecision, tookMs: number): void {
    this.#decisions.inc({ outcome });
    this.#seconds.observe(tookMs / 1_000);
  }

  noteRefused({ reason }: Fault): void {
    this.#refused.inc({ reason });
  }
}
