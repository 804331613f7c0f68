import { defaultLimits, defaultSettings, defaultTimingPolicy, type Settings } from "@tenure/core";
import { type ConfigValues, defineConfig } from "@tenure/runtime";

/** What the lease store has beside the fields of every service. */
export const leaseStoreFields = defineConfig({
  minimumLeaseDurationMs: {
    kind: "duration",
    default: "5s",
    min: "100ms",
    max: "1h",
    doc: "The shortest lease duration that is granted.",
  },
  maximumLeaseDurationMs: {
    kind: "duration",
    default: "5m",
    min: "1s",
    max: "1d",
    doc: "The longest lease duration that is granted; after a restore nothing is granted for this long.",
  },
  leasesPerNamespace: limit(defaultLimits.leasesPerNamespace, "Leases of one namespace in one partition."),
  holdsPerLease: limit(defaultLimits.holdsPerLease, "Running terms of one shared or counted lease."),
  candidatesPerLease: limit(defaultLimits.candidatesPerLease, "Candidates of one lease."),
  waitersPerLease: limit(defaultLimits.waitersPerLease, "Claims that wait for one lease."),
  waitersPerPartition: limit(defaultLimits.waitersPerPartition, "Claims that wait in one partition."),
  holdValueBytes: limit(defaultLimits.holdValueBytes, "Bytes of what a holder says of itself.", 65_536),
  guardedKeysPerLease: limit(defaultLimits.guardedKeysPerLease, "Guarded values of one lease.", 65_536),
  guardedValueBytes: limit(defaultLimits.guardedValueBytes, "Bytes of one guarded value.", 65_536),
  queuedCallsPerPartition: limit(10_000, "Calls that wait for their batch, per partition."),
  watchers: limit(10_000, "Watches that this replica serves at once."),
  queuedPerWatcher: limit(4_096, "Batches that wait for one watcher before it is cut off."),
  keptChanges: limit(10_000, "Changed records that are kept for watches that resume."),
  snapshotAfterBatches: limit(
    4_000,
    "Batches after which a partition's snapshot is made, if they are as large as the last.",
  ),
  snapshotAfterBytes: limit(64_000_000, "Bytes of batches after which one is made at the latest.", 10_000_000_000),
  compactorNkeyFile: {
    kind: "path",
    doc: "File with the NKEY seed of the NATS user that purges the log below snapshots; needed if nats-nkey-file is given.",
  },
  appendTimeoutMs: {
    kind: "duration",
    default: "2s",
    min: "100ms",
    max: "30s",
    doc: "How long one append may take before its outcome is unknown.",
  },
  tombstoneRetentionMs: {
    kind: "duration",
    default: "1h",
    min: "1s",
    max: "30d",
    doc: "How long the name of a deleted lease keeps its history.",
  },
});

function limit(value: number, doc: string, max = 10_000_000) {
  return { kind: "integer", default: value, min: 1, max, doc } as const;
}

/** The configuration of a lease store. */
export type LeaseStoreConfig = ConfigValues<typeof leaseStoreFields>;

/** What the owner of a partition decides by, with this configuration. */
export function settingsOf(config: LeaseStoreConfig): Settings {
  const { maximumLeaseDurationMs, minimumLeaseDurationMs } = config;
  return {
    ...defaultSettings,
    policy: { ...defaultTimingPolicy, maximumLeaseDurationMs, minimumLeaseDurationMs },
    limits: {
      ...defaultLimits,
      leasesPerNamespace: config.leasesPerNamespace,
      holdsPerLease: config.holdsPerLease,
      candidatesPerLease: config.candidatesPerLease,
      waitersPerLease: config.waitersPerLease,
      waitersPerPartition: config.waitersPerPartition,
      holdValueBytes: config.holdValueBytes,
      guardedKeysPerLease: config.guardedKeysPerLease,
      guardedValueBytes: config.guardedValueBytes,
    },
  };
}
