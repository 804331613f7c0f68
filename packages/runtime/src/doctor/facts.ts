import type { JetStreamFacts, ProbeResult } from "@tenure/log";

/** One NATS server as it describes itself through the system account. */
export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  /** Undefined when JetStream is off on it. */
  readonly jetStream?: {
    readonly storeDirectory: string;
    /** True for `sync_interval: always`: an acknowledged message is on disk. */
    readonly syncAlways: boolean;
    /** How often the disk is synced otherwise, in milliseconds; undefined when the server does not say. */
    readonly syncIntervalMs?: number;
  };
  /** How far its wall clock is ahead of the checking process's; undefined when the server does not say. */
  readonly clockAheadMs?: number;
}

/** What the system account tells about the servers. */
export type ServersReading =
  | {
      readonly kind: "read";
      readonly servers: readonly ServerFacts[];
      /** JetStream peers that are known to the others but did not answer. */
      readonly silent: readonly { readonly name: string; readonly isOffline: boolean }[];
      /** Number of JetStream peers, those that are away included; 1 for a single server. */
      readonly clusterSize: number;
    }
  | { readonly kind: "unreadable"; readonly why: string };

/** Everything that the doctor judges. Gathered by `collectFacts`, judged by `examine`. */
export interface DeploymentFacts {
  /** The server at the other end of this process's connection. */
  readonly connected: { readonly name: string; readonly version: string };
  readonly servers: ServersReading;
  readonly jetStream: JetStreamFacts;
  /** Undefined when the probe was not asked for, or there is no stream to probe on. */
  readonly probe?: ProbeResult;
}
