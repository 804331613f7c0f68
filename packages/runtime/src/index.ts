export * from "./config/index.ts";
export { type Credentials, readCredentials } from "./credentials.ts";
export * from "./doctor/index.ts";
export { Health, type Unmet } from "./health.ts";
export { type Host, processHost, type StopSignal, stopSignals } from "./host.ts";
export * from "./http/index.ts";
export { exitCodeOf, lastLines } from "./last-line.ts";
export { createLogger, type LoggerOptions, standardOutput } from "./logging/logger.ts";
export {
  Presence,
  type PresenceDetails,
  type PresenceListener,
  type PresenceOptions,
  type PresenceWatch,
  presenceIntervalMs,
  silenceMs,
  watchPresence,
} from "./presence/index.ts";
export { runService } from "./run.ts";
export type { ServiceContext, ServiceDefinition } from "./service.ts";
export { type StopFailure, StopStack } from "./stop-stack.ts";
export { productVersion } from "./version.ts";
