import type { CollectionPolicy, HoldBack } from "@tenure/core";
import type { Clock, Random } from "@tenure/kernel";
import type { LogReader } from "@tenure/reader";
import type { Directory } from "../directory/directory.ts";
import type { IdentityStore } from "../store/identity-store.ts";
import type { Departures } from "./departures.ts";

/** What a collector stands on. */
export interface CollectorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly reader: Pick<LogReader, "liveSinceMs" | "partitions" | "stateOf">;
  readonly directory: Directory;
  readonly departures: Departures;
  readonly store: IdentityStore;
  readonly policy: CollectionPolicy;
  readonly principal: string;
  readonly instance: string;
  readonly resyncMs: number;
  readonly isDryRun: boolean;
  /** The collector's own lease. */
  readonly term: { readonly isHeld: boolean; readonly token: bigint };
  /** When the store was last seen to come back. */
  storeBackAtMs(): number | undefined;
  readonly listener: CollectorListener;
}

/** Told of what collection does, for logs and metrics. */
export interface CollectorListener {
  onHoldBack(reason: HoldBack | undefined, id: string, dead: number, total: number): void;
  /** An operator let a hold-back go on. */
  onWord(holdBackId: string, reason: string, principal: string): void;
  onCollected(what: "identity" | "candidate", name: string, lagMs: number): void;
  onSpared(what: "identity" | "candidate", name: string): void;
  onFault(doing: string, fault: unknown): void;
}
