import type { MigrationConfiguration } from "@tenure/migration-rules";
import type { CoordinatedOptions } from "../coordinated/index.ts";
import type { LeaseInput } from "../term/lease-name.ts";
import type { TimingOptions } from "../timing/term-timing.ts";
import type { ManagerEvent } from "./manager-event.ts";

/** What a controller manager is told. */
export interface ControllerManagerOptions extends TimingOptions {
  /** The component, for example `cloud-controller-manager`: the same on all its nodes and in all its versions. */
  readonly name: string;
  /** The component's version, such as `1.22.0`: what version ranges of configurations and alarms speak of. */
  readonly version: string;
  /** The primary lock. All nodes of the component share it; migration locks and controllers live in its namespace. */
  readonly lease: LeaseInput;
  /** The configurations that it takes part with, one per migration lock; absent or empty when migration is off. */
  readonly migration?: MigrationConfiguration | readonly MigrationConfiguration[] | undefined;
  /** Has the election service choose who holds the locks, the primary and the migration locks alike. */
  readonly coordinated?: boolean | Omit<CoordinatedOptions, "binaryVersion"> | undefined;
  /**
   * End the process when a lock is lost, after all controllers have stopped: with code 20, or the given one. Default
   * false: all stop, and the manager stands for its locks again.
   */
  readonly exitOnLoss?: boolean | number | undefined;
  /** Told of every decision, for logs. */
  readonly onEvent?: ((event: ManagerEvent) => void) | undefined;
}
