// Between core and the wire: the log's batches, snapshots, requests as commands, replies as responses, records as the
// API shows them, and what selectors and tokens mean. Nothing here waits, logs or reads a clock.
export { type AnswerView, refusalFault } from "./answer/answer.ts";
export { beatResponse, storeRenewResponse } from "./answer/packed-answers.ts";
export {
  candidateGetResponse,
  guardGetResponse,
  guardListResponse,
  historyResponse,
  leaseGetResponse,
} from "./answer/read-answers.ts";
export {
  ackResponse,
  changedCandidateResponse,
  changedLeaseResponse,
  collectResponse,
  deleteResponse,
  guardDeleteResponse,
  guardWriteResponse,
  pingResponse,
  putMigrationResponse,
  recordDecisionResponse,
  withdrawResponse,
} from "./answer/record-answers.ts";
export {
  acceptResponse,
  acquireResponse,
  releaseResponse,
  renewResponse,
  stealResponse,
} from "./answer/term-answers.ts";
export {
  ackCandidatesCommand,
  cordonCommand,
  registerCandidateCommand,
  setPriorityCommand,
  uncordonCommand,
  updateCandidateCommand,
  withdrawCandidateCommand,
} from "./command/candidate-commands.ts";
export { renewKeyHashOf } from "./command/claimant.ts";
export {
  collectCommand,
  electCommand,
  markEndOfTermCommand,
  pingCommand,
  putMigrationCommand,
  putStrategyCommand,
  recordDecisionCommand,
} from "./command/coordination-commands.ts";
export { guardDeleteCommand, guardPutCommand, guardTransactCommand } from "./command/guard-commands.ts";
export { clientIdPattern } from "./command/header.ts";
export {
  createCommand,
  deleteCommand,
  revokeCommand,
  stealCommand,
  updateCommand,
} from "./command/lease-commands.ts";
export { leasesOf } from "./command/leases-of.ts";
export { type BeatOfWait, packedRenewals, waitBeats } from "./command/packed-commands.ts";
export { candidateOfRequest, leaseOfGuardedKey, leaseOfGuardedKeys, leaseOfRequest } from "./command/request-key.ts";
export {
  acceptCommand,
  acquireCommand,
  mostRenewals,
  releaseCommand,
  renewCommand,
} from "./command/term-commands.ts";
export {
  batchIdOf,
  decodeBatch,
  encodeBatch,
  logFormatVersion,
  type OutgoingBatch,
  prevBatchIdOf,
  type ReadBatch,
} from "./log/batch-codec.ts";
export type { LeftOut } from "./log/wire-batch.ts";
export { answerBoundMs, candidateToWire } from "./record/candidate-to-wire.ts";
export { guardedValueToWire } from "./record/guarded-to-wire.ts";
export { decisionToWire, migrationToWire } from "./record/kept-message.ts";
export { leaseStateToWire, leaseToWire, type RecordView, runningHoldToWire } from "./record/lease-to-wire.ts";
export { transitionToWire } from "./record/transition-to-wire.ts";
export { type CandidateSelection, candidateSelection, candidateSelections } from "./select/candidate-selection.ts";
export { type LeaseSelection, leaseSelection, leaseSelections } from "./select/lease-selection.ts";
export {
  defaultPageSize,
  encodePageToken,
  maximumPageSize,
  type PageSlice,
  type PageToken,
  pageTokenExpired,
  readPage,
} from "./select/page.ts";
export { stateFilter } from "./select/state-filter.ts";
export { decodeSnapshot, decodeSnapshotInSteps, type ReadSnapshot } from "./snapshot/decode-snapshot.ts";
export {
  encodeSnapshot,
  type SnapshotOrigin,
  snapshotChunks,
  snapshotFormatVersion,
} from "./snapshot/encode-snapshot.ts";
export { holdOrigins, termEndReasons } from "./value/enums.ts";
export { type CandidateName, candidateKeyToWire, leaseKeyToWire } from "./value/key.ts";
export { bytesOfHex, hexOf } from "./value/text.ts";
