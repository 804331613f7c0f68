import type { Bus } from "@tenure/bus";
import type { LeftOut } from "@tenure/contracts";
import type { Concerns } from "@tenure/core";
import type { Clock, Random } from "@tenure/kernel";
import { JetStreamSnapshotStore, JetStreamTransport } from "@tenure/log";
import { logDecoder } from "./log-decoder.ts";
import { LogReader, type LogReaderListener } from "./log-reader.ts";

/** What a reader in a service needs. */
export interface BusLogReaderOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly incarnation: { readonly id: string; readonly partitions: number };
  /** Changed records that are kept for watches that resume and lists that go on; 0 where there are none. */
  readonly keptChanges: number;
  /** What the past is shown of; everything when absent. */
  readonly keeps?: Concerns | undefined;
  /** A past that spans less than this is not kept, unless somebody needs it; absent where it always is. */
  readonly leastPastMs?: number | undefined;
  /** Events that the service never looks at. */
  readonly leftOut?: LeftOut;
  /** How long the service may rest after what it was told. */
  readonly restMs?: (() => number) | undefined;
  /** Told of troubles that the reader lives with, for the service's log. */
  note(what: object, message: string): void;
}

/** A reader of the deployment's own log, with everything that it reads by. */
export class BusLogReader extends LogReader {
  readonly #parts: readonly Disposable[];

  constructor(options: BusLogReaderOptions, listener: Omit<LogReaderListener, "onFault"> = {}) {
    const { bus, clock, incarnation, note, random, ...reading } = options;
    const onInterruption = (why: string) => note({ why }, "the log is followed anew");
    const transport = new JetStreamTransport({ control: bus, clock, random, onInterruption });
    const snapshots = new JetStreamSnapshotStore({ bus, clock, random });
    super(
      { clock, random, transport, snapshots, codec: logDecoder },
      { incarnationId: incarnation.id, partitions: incarnation.partitions, ...reading },
      { ...listener, onFault: (partition, doing, err) => note({ partition, doing, err }, "a partition has trouble") },
    );
    this.#parts = [snapshots, transport];
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    for (const part of this.#parts) part[Symbol.dispose]();
  }
}
