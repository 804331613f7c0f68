export type { Lease, LeaseEvent, Transition } from "@tenure/contracts";
export { defaultMigrationConfiguration, type MigrationConfiguration } from "@tenure/migration-rules";
export { type ConnectOptions, connect } from "./connect.ts";
export {
  type Controller,
  type ControllerManager,
  type ControllerManagerOptions,
  type ControllerStanding,
  type ManagerEvent,
  type MigrationFlagsOptions,
  migrationFlags,
} from "./controllers/index.ts";
export type { CoordinatedOptions, StrategyInput } from "./coordinated/index.ts";
export {
  type ClientReason,
  type ErrorCode,
  type ErrorDetails,
  type ErrorWord,
  isTenureError,
  type ServerReason,
  TenureError,
} from "./errors.ts";
export type {
  Guard,
  GuardCondition,
  GuardedEntry,
  GuardReader,
  GuardReadOptions,
  GuardTransaction,
  GuardWriteOptions,
  RequestOptions,
} from "./guard/guard.ts";
export {
  type HealthAnswer,
  type HealthHandler,
  type HealthOptions,
  leaderHealth,
  type TermSource,
} from "./health/leader-health.ts";
export type { DependentInput, IdentityOptions } from "./identity/identity-options.ts";
export type { Instance, InstanceLiveness, InstanceSelector } from "./identity/instance.ts";
export type { InstanceChange, Instances, WatchInstancesOptions } from "./identity/instances.ts";
export type { IdentityNews, OwnIdentity } from "./identity/own-identity.ts";
export type { ClientOptions } from "./instance/client.ts";
export type { ClientEvent } from "./instance/client-event.ts";
export { lossExitCode } from "./instance/end-process.ts";
export type { RunningTerm } from "./instance/running-terms.ts";
export type { Tenure } from "./instance/tenure.ts";
export type { CampaignOptions } from "./lead/campaign.ts";
export type { LeadOptions, Work } from "./lead/lead.ts";
export { LeaderElector, type LeaderElectorConfig } from "./lead/leader-elector.ts";
export type { KeyComparison, PrecedenceOptions } from "./lead/precedence.ts";
export type { HistoryEnd, LeaseQuery, LeaseSpecInput, Leases } from "./leases/leases.ts";
export type { Lock } from "./locks/lock.ts";
export type { LockOptions } from "./locks/lock-options.ts";
export type { LockSet } from "./locks/lock-set.ts";
export type { ClientMetrics, LeaseMetrics } from "./metrics/client-metrics.ts";
export type { TraceAttributes, Tracer, TraceSpan } from "./metrics/tracer.ts";
export type { NatsOptions } from "./nats/nats-transport.ts";
export type { Observation } from "./observe/observation.ts";
export type { ObserveOptions } from "./observe/observe.ts";
export type { WatchNews } from "./observe/resuming-watch.ts";
export type { Session, SessionState } from "./session/session.ts";
export type { HoldOptions } from "./term/hold-options.ts";
export type { LeaseInput, LeaseName } from "./term/lease-name.ts";
export type { HoldingMode, Term, TermEvents, TermSignal } from "./term/term.ts";
export type { Preemption, TermEnd } from "./term/term-end.ts";
export { isTermEnded, TermEnded } from "./term/term-ended.ts";
export type { TermStanding } from "./term/term-state.ts";
export { describeTiming, type TimingReport } from "./timing/describe-timing.ts";
export type { DurationInput } from "./timing/duration-input.ts";
export type { TermTiming, TimingOptions } from "./timing/term-timing.ts";
