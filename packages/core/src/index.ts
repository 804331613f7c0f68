export { apply } from "./apply/apply.ts";
export {
  BeforeImages,
  type Concerns,
  candidatesOf,
  copyOfCandidate,
  copyOfLease,
  type ImagesBefore,
} from "./apply/before-images.ts";
export { applyRenewals } from "./apply/hold.ts";
export { type Consensus, reconcile, type Voter } from "./consensus.ts";
export { isCandidateValid, isCoordinated, priorityOf, strategyInForce, whyNotElectable } from "./coordination.ts";
export { clientKey } from "./decide/attempt.ts";
export { decide } from "./decide/decide.ts";
export type { Decision } from "./decide/decision.ts";
export { isWithin } from "./decide/eligible.ts";
export { untilDueMs } from "./decide/expire.ts";
export { decidePackedRenewal, type PackedRenewal, type PackedResult, restoredAtOnce } from "./decide/renew.ts";
export * from "./election/index.ts";
export { execute, executePackedRenewal } from "./execute.ts";
export {
  type ExpiryGuard,
  type ExpiryPermission,
  followsOutage,
  type GuardTiming,
  guardOf,
  mayExpire,
  newExpiryGuard,
  noteAppendAcked,
  noteConnectionLost,
  owesPause,
  promptAppendMs,
} from "./expiry-guard.ts";
export {
  type Followed,
  followBatch,
  keepLastRead,
  type LastRead,
  type LoggedBatch,
  lastReadOf,
} from "./follow.ts";
export { hash32 } from "./hash.ts";
export * from "./identity/index.ts";
export {
  checkCandidateName,
  checkGuardedKey,
  checkLeaseKey,
  isOfSystem,
  type LeaseKey,
  leaseKey,
  maximumNameBytes,
  maximumNamespaceBytes,
  nameOf,
  namespaceOf,
} from "./key.ts";
export { freeAfterMs, type LeaseState, leaseStateOf } from "./lease-state.ts";
export { defaultLimits, defaultRetention, type Limits, limitName, type Retention } from "./limits.ts";
export * from "./ownership/index.ts";
export { commitBatch, type OpenBatch, type OwnedPartition, openBatch, ownPartition } from "./partition/batch.ts";
export type * from "./partition/command.ts";
export type * from "./partition/event.ts";
export type * from "./partition/outcome.ts";
export {
  isObstacle,
  isOutcome,
  isRefusal,
  type Obstacle,
  type Refusal,
  type RenewalResult,
  type Reply,
} from "./partition/reply.ts";
export { defaultSettings, type Settings, sameSettings } from "./partition/settings.ts";
export { emptyPartition, existingLease, type PartitionState } from "./partition/state.ts";
export {
  type CandidatePreference,
  type CandidateRecord,
  type CandidateSpec,
  type Cordon,
  defaultCandidateSpec,
  defaultValidityMs,
  type Ping,
  type Priority,
} from "./record/candidate.ts";
export type * from "./record/eligibility.ts";
export type * from "./record/guarded.ts";
export type * from "./record/hold.ts";
export { type Deletion, type LeaseRecord, renewalRevisionOf, shownRevisionOf } from "./record/lease.ts";
export { defaultLeaseSpec, type Labels, type LeaseSpec } from "./record/lease-spec.ts";
export { elapsedMs, openSequence, type Position, remainingMs } from "./record/position.ts";
export {
  type ConsensusRule,
  type Strategy,
  type StrategyConflict,
  type StrategyKind,
  type StrategySetting,
  type StrategySource,
  strategyKinds,
} from "./record/strategy.ts";
export type * from "./record/transition.ts";
export { describeRefusal } from "./refusal-fault.ts";
export { type ByteSpan, partitionOf, partitionOfBytes, routingPart } from "./routing.ts";
export { compareVersions, parseVersion, type SemanticVersion } from "./semantic-version.ts";
export { loadSnapshot, loadSnapshotInSteps } from "./snapshot/load.ts";
export { takeSnapshot, takeSnapshotInSteps } from "./snapshot/take.ts";
export type * from "./snapshot/types.ts";
export { finish, type Steps } from "./steps.ts";
export {
  checkLeaseDuration,
  checkTiming,
  defaultTiming,
  defaultTimingPolicy,
  describeTiming,
  leastLeaseDurationMs,
  type Timing,
  type TimingPolicy,
  type TimingViolation,
  testTimingPolicy,
} from "./timing.ts";
export { checkCandidateSpec, checkPriority } from "./validation/candidate-spec.ts";
export { byteLength, checkDurationMs, maximumLabelBytes, maximumLabels } from "./validation/field.ts";
export { checkLeaseSpec, maximumAnnotationBytes } from "./validation/lease-spec.ts";
export { checkStrategy, isVendorName, maximumExpressionBytes, strategyNamed } from "./validation/strategy.ts";
export { isInRange, parseVersionRange, type VersionRange } from "./version-range.ts";
export { endOverdueWaits, type Settled, settleWaiters } from "./waiting/settle.ts";
export { abandonWait, beatWaiter, stir, stirDue } from "./waiting/stir.ts";
export { type Waiter, type Waiters, waiterId, waitersOf } from "./waiting/waiters.ts";
