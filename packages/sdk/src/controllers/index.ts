export type { Controller } from "./controller.ts";
export { ControllerManager, type ControllerStanding } from "./controller-manager.ts";
export type { ManagerEvent } from "./manager-event.ts";
export type { ControllerManagerOptions } from "./manager-options.ts";
export { type MigrationFlagsOptions, migrationFlags } from "./migration-flags.ts";
