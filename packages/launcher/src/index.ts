export { type Environment, inheritedEnvironment } from "./environment.ts";
export { type LeashedCommand, spawnOnLeash } from "./leash.ts";
export { findNatsServer } from "./nats-server/find.ts";
export { type ObtainOptions, obtainVersion } from "./nats-server/obtain.ts";
export { type PackagesRequest, type UnpackedPackages, unpackPackages } from "./nats-server/packages.ts";
export type { FindOptions, FoundNatsServer, Machine, NatsServerOrigin } from "./nats-server/search.ts";
export { compareServerVersions, minimumServerVersion } from "./nats-server/version.ts";
export { nodeOptions } from "./programs.ts";
