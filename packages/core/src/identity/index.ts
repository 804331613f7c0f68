export {
  type CollectionDecision,
  type CollectionPolicy,
  type CollectionSight,
  collectionDecision,
  type HoldBack,
} from "./collection.ts";
export { type Collision, collisionOf } from "./collision.ts";
export {
  beatAgeMs,
  departureOf,
  expiredSinceMs,
  type LifeSight,
  type Liveness,
  lifeSightOf,
  livenessAt,
  missedBeats,
  untilLivenessChangesMs,
} from "./liveness.ts";
export {
  defaultIdentityNamespace,
  identityNamespacePattern,
  isIdentityLease,
  isIdentityNamespace,
} from "./namespace.ts";
export {
  checkIdentityId,
  freshDigits,
  freshIdentityId,
  hostLabel,
  type IdentityNaming,
  type IdentityOrigin,
  type Sha256,
  stableIdentityId,
} from "./naming.ts";
export {
  beatsPerValidity,
  checkProfile,
  type Dependent,
  type IdentityLimits,
  type IdentityProfile,
} from "./profile.ts";
export {
  annotations as identityAnnotations,
  holderOf,
  identityLabels,
  instanceUidOf,
  isIdentityRecord,
  labelsOf,
} from "./record.ts";
