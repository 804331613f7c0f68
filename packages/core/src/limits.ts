/** How much a partition keeps. A command that would exceed one is refused with the limit's name and changes nothing. */
export interface Limits {
  /** Leases of one namespace in one partition. */
  readonly leasesPerNamespace: number;
  /** Running terms of one shared or counted lease. */
  readonly holdsPerLease: number;
  readonly claimsPerAcquire: number;
  readonly candidatesPerLease: number;
  readonly waitersPerLease: number;
  readonly waitersPerPartition: number;
  readonly holdValueBytes: number;
  readonly guardedKeysPerLease: number;
  readonly guardedValueBytes: number;
  readonly guardedTransactionOperations: number;
  readonly guardedTransactionBytes: number;
  readonly decisionBytes: number;
  readonly migrationBytes: number;
}

/** How much a partition remembers of the past. Older entries are dropped, nothing is refused. */
export interface Retention {
  /** Lines of history per lease. */
  readonly historyPerLease: number;
  readonly decisionsPerLease: number;
  /** Outcomes remembered for one client (rule 4). */
  readonly outcomesPerClient: number;
  /** Clients whose outcomes are remembered. */
  readonly clientsWithOutcomes: number;
  /** Clients beyond those of whom the highest attempt number is remembered, so that a late duplicate is refused. */
  readonly clientsRemembered: number;
}

/** Numbers from the API's own bounds; the rest keeps a partition's worst case within a few hundred megabytes. */
export const defaultLimits: Limits = Object.freeze({
  leasesPerNamespace: 100_000,
  holdsPerLease: 1_000,
  claimsPerAcquire: 16,
  candidatesPerLease: 1_000,
  waitersPerLease: 10_000,
  waitersPerPartition: 100_000,
  holdValueBytes: 4_096,
  guardedKeysPerLease: 256,
  guardedValueBytes: 16_384,
  guardedTransactionOperations: 32,
  guardedTransactionBytes: 65_536,
  decisionBytes: 65_536,
  migrationBytes: 262_144,
});

/** A day of hourly changes of holder, and retries of several minutes at the rates that one client reaches. */
export const defaultRetention: Retention = Object.freeze({
  historyPerLease: 32,
  decisionsPerLease: 8,
  outcomesPerClient: 64,
  clientsWithOutcomes: 8_192,
  clientsRemembered: 65_536,
});

/** A limit's name as configuration and errors spell it, for example `leases-per-namespace`. */
export function limitName(limit: keyof Limits): string {
  return limit.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
