import { Gauge, Histogram, type Registry } from "prom-client";
import type { MigrationDirectory } from "./directory/migration-directory.ts";

/** What a migration service counts beside what every service does. No series names a controller or an instance. */
export class MigrationMetrics {
  readonly #registry: Registry;
  readonly #reports: Histogram;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#reports = new Histogram({
      name: "tenure_migration_report_seconds",
      help: "Time that a participant's report takes, store included.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    });
  }

  /** Shows what is looked up when it is asked for. */
  show(directory: MigrationDirectory): void {
    const registers = [this.#registry];
    const states = () => directory.namespaces.map((namespace) => directory.stateOf(namespace));
    new Gauge({
      name: "tenure_migration_configurations",
      help: "Configurations in force.",
      registers,
      collect() {
        this.set(states().reduce((sum, { configurations }) => sum + configurations.length, 0));
      },
    });
    new Gauge({
      name: "tenure_migration_participants",
      help: "Participants that report.",
      registers,
      collect() {
        this.set(states().reduce((sum, { participants }) => sum + participants.length, 0));
      },
    });
    new Gauge({
      name: "tenure_migration_alarms",
      help: "Alarms that are raised, by kind.",
      labelNames: ["kind"],
      registers,
      collect() {
        this.reset();
        for (const { alarms } of states()) for (const { kind } of alarms) this.inc({ kind });
      },
    });
  }

  noteReport(tookMs: number): void {
    this.#reports.observe(tookMs / 1_000);
  }
}
