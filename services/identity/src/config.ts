import {
  type CollectionPolicy,
  defaultIdentityNamespace,
  defaultTimingPolicy,
  type IdentityLimits,
  identityNamespacePattern,
} from "@tenure/core";
import { type ConfigValues, configFault, defineConfig } from "@tenure/runtime";

/** What the identity service has beside the fields of every service. */
export const identityFields = defineConfig({
  identityNamespace: {
    kind: "string",
    default: defaultIdentityNamespace,
    pattern: identityNamespacePattern,
    doc: "The namespace of the leases that are identities; the gateways must be told the same.",
  },
  beatIntervalMs: {
    kind: "duration",
    default: "10s",
    min: "100ms",
    max: "10m",
    doc: "Time between two beats of an instance that does not say otherwise.",
  },
  minimumBeatIntervalMs: {
    kind: "duration",
    default: "1s",
    min: "50ms",
    max: "10m",
    doc: "The shortest beat interval that an instance may have.",
  },
  maximumBeatIntervalMs: {
    kind: "duration",
    default: "10m",
    min: "1s",
    max: "1h",
    doc: "The longest beat interval that an instance may have.",
  },
  validityMs: {
    kind: "duration",
    default: "1h",
    min: "1s",
    max: "1d",
    doc: "How long an instance counts without a beat unless it says otherwise.",
  },
  collectionGraceMs: {
    kind: "duration",
    default: "5m",
    min: "0s",
    max: "7d",
    doc: "How long past its validity an identity or candidate is kept before it is collected.",
  },
  collectionResyncMs: {
    kind: "duration",
    default: "1m",
    min: "100ms",
    max: "1d",
    doc: "How often the collector looks at everything, also when nothing told it to.",
  },
  collectionSettleMs: {
    kind: "duration",
    default: "1m",
    min: "0s",
    max: "1d",
    doc: "How long nothing is collected after the collector began to watch or the store came back.",
  },
  collectionDryRun: {
    kind: "boolean",
    default: false,
    doc: "Say what would be collected and collect nothing.",
  },
  holdBackPercent: {
    kind: "integer",
    default: 30,
    min: 1,
    max: 100,
    doc: "If more than this share of all identities looks dead at once, nothing is collected until an operator says so.",
  },
  holdBackMinimum: {
    kind: "integer",
    default: 10,
    min: 1,
    max: 10_000_000,
    doc: "Fewer dead identities than this are never too many.",
  },
  collectorLeaseDurationMs: {
    kind: "duration",
    default: "15s",
    min: "3s",
    max: "5m",
    doc: "Duration of the lease that the collecting replica holds; about how long the next one takes to follow it.",
  },
  watchers: {
    kind: "integer",
    default: 10_000,
    min: 1,
    max: 10_000_000,
    doc: "Watches that this replica serves at once.",
  },
  queuedPerWatcher: {
    kind: "integer",
    default: 65_536,
    min: 1,
    max: 10_000_000,
    doc: "Changes that wait for one watcher before it is cut off.",
  },
  keptChanges: {
    kind: "integer",
    default: 10_000,
    min: 1,
    max: 10_000_000,
    doc: "Changed records that are kept for lists that go on.",
  },
});

/** The configuration of an identity service. */
export type IdentityConfig = ConfigValues<typeof identityFields>;

/** Refuses a configuration whose numbers contradict each other. */
export function checkConfig(config: IdentityConfig): void {
  const { beatIntervalMs, maximumBeatIntervalMs, minimumBeatIntervalMs, validityMs } = config;
  const problems = [];
  if (beatIntervalMs < minimumBeatIntervalMs || beatIntervalMs > maximumBeatIntervalMs) {
    const rule = `must be from minimum-beat-interval (${minimumBeatIntervalMs} ms) to maximum-beat-interval (${maximumBeatIntervalMs} ms)`;
    problems.push({ where: "beat-interval", rule, value: `${beatIntervalMs} ms` });
  }
  if (validityMs < 6 * beatIntervalMs) {
    const rule = `must be at least six times the beat-interval of ${beatIntervalMs} ms`;
    problems.push({ where: "validity", rule, value: `${validityMs} ms` });
  }
  if (problems.length > 0) throw configFault(problems);
}

/** What registrations may ask for. */
export function limitsOf(config: IdentityConfig): IdentityLimits {
  return {
    leastBeatIntervalMs: config.minimumBeatIntervalMs,
    mostBeatIntervalMs: config.maximumBeatIntervalMs,
    mostValidityMs: defaultTimingPolicy.maximumIdentityValidityMs,
  };
}

/** How collection is done. */
export function collectionPolicyOf(config: IdentityConfig): CollectionPolicy {
  return {
    graceMs: config.collectionGraceMs,
    holdBackShare: config.holdBackPercent / 100,
    holdBackMinimum: config.holdBackMinimum,
    settleMs: config.collectionSettleMs,
  };
}
