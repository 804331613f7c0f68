// The session itself, for those who build on it: the SDK's own upper half, tools and tests.
export { isTenureError, TenureError } from "../errors.ts";
export type { GrpcOptions } from "../grpc/grpc-transport.ts";
export type { NatsOptions } from "../nats/nats-transport.ts";
export { openSession, type SessionOptions } from "./open-session.ts";
export type * from "./session.ts";
