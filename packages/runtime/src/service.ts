import type { Bus } from "@tenure/bus";
import type { Clock, Random } from "@tenure/kernel";
import type { Incarnation } from "@tenure/log";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { CommonFields, ConfigValues, Fields } from "./config/index.ts";
import type { DoctorReport } from "./doctor/index.ts";
import type { Health } from "./health.ts";
import type { HeapGrowth } from "./heap.ts";
import type { Router } from "./http/index.ts";
import type { Presence } from "./presence/index.ts";

/** What a service is to the runtime: a name, its own fields, and how it starts. */
export interface ServiceDefinition<F extends Fields> {
  /** As deployments spell it, for example `lease-store`; also the name of its NATS user. */
  readonly name: string;
  /** One sentence for `--help`. */
  readonly summary: string;
  /** The fields that it has beside the common ones. */
  readonly fields: F;
  /** Looks at the whole configuration before anything starts; throws a `configFault` for what does not go together. */
  check?(config: ConfigValues<CommonFields> & ConfigValues<F>): unknown;
  /** Whether this service proves at boot that NATS compares and sets correctly: those that append do. */
  readonly probe?: boolean;
  /** For a service that is mostly what it remembers; others grow as V8 has it. */
  readonly heapGrowth?: HeapGrowth;
  /**
   * Starts the service on a connected, checked bus. When it resolves, the service is ready unless one of its own
   * conditions in `context.health` says otherwise. What it returns is disposed of first when the service stops. It
   * must give up when `context.stop` is aborted.
   */
  start(context: ServiceContext<F>): Promise<AsyncDisposable | undefined>;
}

/** All that a service gets from the runtime. */
export interface ServiceContext<F extends Fields> {
  readonly config: ConfigValues<CommonFields> & ConfigValues<F>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The registry behind `/metrics`. */
  readonly metrics: Registry;
  /** The conditions behind `/readyz`. */
  readonly health: Health;
  /** The paths of the service's HTTP port. */
  readonly http: Router;
  readonly bus: Bus;
  readonly incarnation: Incarnation;
  readonly instance: string;
  /** What this instance says about itself to the others. */
  readonly presence: Pick<Presence, "describe">;
  /**
   * Makes the boot check's examination of the deployment again, with or without the compare-and-set probe. Whoever asks
   * for the same while one is under way gets that one's answer: each costs connections, and the probe appends.
   */
  examineDeployment(withProbe: boolean): Promise<DoctorReport>;
  /** Aborted when the service begins to stop. */
  readonly stop: AbortSignal;
}
