export { type BootCheckInput, bootCheck, type FindingLog, stopFault } from "./boot-check.ts";
export { type CollectOptions, collectFacts } from "./collect.ts";
export { examine, examineInfrastructure } from "./examine.ts";
export type { DeploymentFacts, ServerFacts, ServersReading } from "./facts.ts";
export { type Finding, findingText, findingWord, type Mode, type Severity, stops } from "./finding.ts";
export { judgeNatsVersion, type NatsVersion, parseNatsVersion, type VersionVerdict } from "./nats-version.ts";
export { type Passed, passedChecks } from "./passed.ts";
export { type DoctorReport, toDoctorResponse } from "./to-proto.ts";
