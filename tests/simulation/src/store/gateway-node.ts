import { seededRandom } from "@tenure/kernel";
import type { MemoryTransport } from "@tenure/log/memory";
import type { LogReader, Watches } from "@tenure/reader";
import type { SimulatedProcess } from "../time/simulated-process.ts";
import { codec } from "./codec.ts";
import { ProcessTransport, processSnapshots } from "./process-transport.ts";
import { incarnationId, type NodeWorld, watchLimits } from "./replica-node.ts";
import { Sights } from "./sights.ts";

/** One life of one gateway, as far as it reads the log: the production reader and its watches on simulated ports. */
export class GatewayNode {
  readonly process: SimulatedProcess;
  readonly reader: LogReader;
  readonly watches: Watches;
  readonly #world: NodeWorld;
  readonly #transport: MemoryTransport;

  constructor(world: NodeWorld, process: SimulatedProcess, seed: number) {
    const { code, log, partitions, snapshots, time } = world;
    this.#world = world;
    this.process = process;
    this.#transport = log.connect(process.name);
    const random = seededRandom(seed);
    const sights = new Sights();
    const transport = new ProcessTransport(this.#transport, process, time, sights);
    const store = processSnapshots(snapshots, process, time, () => 5 + random.next() * 20, sights);
    const ports = { clock: process, random, transport, snapshots: store, codec };
    this.reader = new code.LogReader(ports, { incarnationId, partitions, keptChanges: watchLimits.keptChanges });
    this.watches = new code.Watches(this.reader, watchLimits);
    void this.reader.start();
  }

  /** Loses the connection to the log for so long. */
  cutLog(forMs: number): void {
    this.#transport.cut();
    this.#world.time.after(forMs, () => {
      if (this.process.isAlive) this.#transport.heal();
    });
  }

  /** Ends at once, as kill -9 does. */
  kill(): void {
    this.process.kill();
    this.#transport[Symbol.dispose]();
  }
}
