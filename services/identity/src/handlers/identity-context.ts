import type { IdentityLimits } from "@tenure/core";
import type { Clock, Random } from "@tenure/kernel";
import type { LogReader } from "@tenure/reader";
import type { Departures } from "../collector/departures.ts";
import type { Directory } from "../directory/directory.ts";
import type { ProfileDefaults } from "../record/profile-record.ts";
import type { IdentityStore } from "../store/identity-store.ts";

/** What every call stands on. */
export interface IdentityContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly reader: LogReader;
  readonly store: IdentityStore;
  readonly directory: Directory;
  readonly departures: Departures;
  readonly limits: IdentityLimits;
  readonly defaults: ProfileDefaults;
  readonly watchers: number;
  readonly queuedPerWatcher: number;
  /** Something failed that the caller need not know. */
  onNote(what: object, message: string): void;
}

/** How long a replica that is behind may take to catch up. */
export const catchUpMs = 2_000;
