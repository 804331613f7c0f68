// The rules of migration locks: documents, placements, verdicts and plans. No input or output.

export { type Alarm, type AlarmKind, alarmKey, alarmsOf, doubleRunOf } from "./alarm.ts";
export {
  adviceOn,
  anyComponent,
  type ControllerLeader,
  controllerLeaseOf,
  defaultMigrationConfiguration,
  lockOf,
  type MigrationConfiguration,
  recommendedLocks,
  tooManyLocks,
} from "./configuration.ts";
export { digestOf, digestOfAll } from "./digest.ts";
export {
  type DocumentOptions,
  maximumDocumentBytes,
  ownApiVersion,
  type ParsedDocument,
  parseMigrationDocument,
} from "./document.ts";
export { type DocumentContext, findingsInContext, hasSameControllers } from "./document-context.ts";
export { type Finding, findingText, sortFindings } from "./finding.ts";
export { type Participating, participantOf } from "./participant.ts";
export { overlapIn, type Period, periodsOf } from "./period.ts";
export { mayRun, type Placement, placementOf, type Release } from "./placement.ts";
export { nextSteps, type PlanView, rollbackSteps, type Step } from "./plan.ts";
export { type Verdict, verdictsFor } from "./verdict.ts";
export {
  type ConfigurationInForce,
  controllersOf,
  inForceOf,
  type MigrationParticipant,
  type MigrationView,
  namespaceOfParticipant,
  type OwnController,
  type OwnPlacement,
} from "./view.ts";
