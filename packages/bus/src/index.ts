export type { Bus, BusOptions, BusStatus } from "./bus.ts";
export {
  anonymous,
  type BusServer,
  type CallContext,
  type CallOptions,
  type Client,
  type ClientMethod,
  type ClientOptions,
  defaultBeatMs,
  defaultDeadlineMs,
  defaultWindow,
  type HandlerMethod,
  type Handlers,
  type ServeOptions,
  type StreamCallOptions,
} from "./call-options.ts";
export { createClient, createStart, type StartCall } from "./client.ts";
export { connectBus } from "./connect-bus.ts";
export { defaultMaxRunning, defaultStopGraceMs, serve } from "./serve.ts";
export type {
  BusMethod,
  MessageCodec,
  MessageOf,
  MethodDefinition,
  RequestOf,
  ResponseOf,
  ServiceDefinition,
} from "./service-definition.ts";
export {
  auditWildcard,
  batchSubject,
  callSubject,
  callWildcard,
  controlAllSubject,
  controlSubject,
  controlWildcard,
  inboxPrefixOf,
  incarnationSubject,
  livenessSubject,
  livenessWildcard,
  logSubject,
  logWildcard,
  ownerSubject,
  ownerWildcard,
  partitionRoute,
  presenceSubject,
  presenceWildcard,
  probeSubject,
  probeWildcard,
  subjectToken,
} from "./subjects.ts";
export { type TraceContext, traceContextOf } from "./trace-context.ts";
