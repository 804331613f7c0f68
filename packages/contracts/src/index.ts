// The generated messages and service definitions, whose names are unique over all packages of `proto/`, and what goes
// with them.
export { fileDescriptorSet } from "./descriptors.ts";
export { durationFromMs, durationToMs } from "./duration.ts";
export * from "./election/index.ts";
export { encodeMessage } from "./encode-message.ts";
export { decodeStatusDetails, encodeStatusDetails, failureFromFault, faultFromFailure } from "./fault-codec.ts";
export * from "./gen/google/protobuf/any.ts";
export * from "./gen/google/protobuf/duration.ts";
export * from "./gen/google/protobuf/field_mask.ts";
export * from "./gen/google/protobuf/timestamp.ts";
export * from "./gen/tenure/bus/v1/failure.ts";
export * from "./gen/tenure/bus/v1/liveness.ts";
export * from "./gen/tenure/bus/v1/owner_beat.ts";
export * from "./gen/tenure/log/v1/audit.ts";
export * from "./gen/tenure/log/v1/batch.ts";
export * from "./gen/tenure/log/v1/candidate_event.ts";
export * from "./gen/tenure/log/v1/event.ts";
export * from "./gen/tenure/log/v1/guard_event.ts";
export * from "./gen/tenure/log/v1/hold_event.ts";
export * from "./gen/tenure/log/v1/incarnation.ts";
export * from "./gen/tenure/log/v1/lease_event.ts";
export * from "./gen/tenure/log/v1/partition_event.ts";
export * from "./gen/tenure/log/v1/snapshot.ts";
export * from "./gen/tenure/log/v1/snapshot_record.ts";
export * from "./gen/tenure/store/v1/store.ts";
export * from "./gen/tenure/v1/attempt.ts";
export * from "./gen/tenure/v1/candidate.ts";
export * from "./gen/tenure/v1/candidate_record.ts";
export * from "./gen/tenure/v1/claim.ts";
export * from "./gen/tenure/v1/collection.ts";
export * from "./gen/tenure/v1/decision.ts";
export * from "./gen/tenure/v1/election.ts";
export * from "./gen/tenure/v1/error.ts";
export * from "./gen/tenure/v1/guard.ts";
export * from "./gen/tenure/v1/hold.ts";
export * from "./gen/tenure/v1/hypothesis.ts";
export * from "./gen/tenure/v1/identity.ts";
export * from "./gen/tenure/v1/identity_record.ts";
export * from "./gen/tenure/v1/key.ts";
export * from "./gen/tenure/v1/lease.ts";
export * from "./gen/tenure/v1/lease_record.ts";
export * from "./gen/tenure/v1/migration.ts";
export * from "./gen/tenure/v1/migration_record.ts";
export * from "./gen/tenure/v1/read.ts";
export * from "./gen/tenure/v1/renewal.ts";
export * from "./gen/tenure/v1/selector.ts";
export * from "./gen/tenure/v1/service_status.ts";
export * from "./gen/tenure/v1/session.ts";
export * from "./gen/tenure/v1/strategy.ts";
export * from "./gen/tenure/v1/system.ts";
export * from "./gen/tenure/v1/transition.ts";
export * from "./gen/tenure/v1/watch.ts";
export * from "./identity/index.ts";
export {
  controllerPlacements,
  type ReportedParticipant,
  reportFromWire,
  reportToWire,
} from "./migration/participant-codec.ts";
export {
  decodeRenewals,
  encodeRenewals,
  mostHoldsPerCall,
  mostHoldsPerGroup,
  type RenewalGroup,
  renewalLayout,
} from "./renewal-pack.ts";
export { internalServices, publicServices, simpleServiceName } from "./services.ts";
export * from "./store/index.ts";
export {
  formatTimestamp,
  parseTimestamp,
  timestampFromMicros,
  timestampFromMs,
  timestampToMicros,
} from "./timestamp.ts";
