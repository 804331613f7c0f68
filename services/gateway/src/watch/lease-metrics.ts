import { Gauge, Histogram, type Registry } from "prom-client";
import type { LeaseNumbers } from "./lease-tally.ts";

/** What a gateway says of all leases. Every gateway says the same; no series names a lease. */
export class LeaseMetrics {
  readonly #registry: Registry;
  readonly #leaderless: Histogram;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#leaderless = new Histogram({
      name: "tenure_leaderless_seconds",
      help: "For how long leases with candidates had no holder, seen when they got one; by every gateway.",
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300],
      registers: [registry],
    });
  }

  /** A lease that had been leaderless for so long is held. */
  noteLed(leaderlessMs: number): void {
    this.#leaderless.observe(leaderlessMs / 1_000);
  }

  /** Shows the numbers whenever they are asked for. */
  show(read: () => LeaseNumbers | undefined): void {
    const gauge = (name: string, help: string, value: (numbers: LeaseNumbers) => number) =>
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        collect() {
          const numbers = read();
          // A gateway that has not read the log yet says nothing: a zero would look like leases that are gone.
          if (numbers === undefined) this.remove();
          else this.set(value(numbers));
        },
      });
    gauge("tenure_held_leases", "Leases that somebody holds.", ({ held }) => held);
    gauge("tenure_free_leases", "Leases that nobody holds, for whatever reason.", ({ free }) => free);
    gauge("tenure_ending_leases", "Held leases whose term is asked to end.", ({ ending }) => ending);
    gauge("tenure_leaderless_leases", "Leases that have candidates and no holder.", ({ leaderless }) => leaderless);
    gauge(
      "tenure_longest_leaderless_seconds",
      "For how long the lease that has been leaderless for the longest is so, as far as this gateway saw; 0 if none is.",
      ({ longestLeaderlessMs }) => longestLeaderlessMs / 1_000,
    );
  }
}
