import type { ReplicaSight } from "@tenure/core";
import type { Beats } from "@tenure/lease-store/replica";
import type { OwnBeat } from "@tenure/log";
import type { Network } from "../network/network.ts";
import type { SimulatedProcess } from "../time/simulated-process.ts";

/** How one replica of a world hears the others: by messages that may be lost, late or doubled. */
export class SimulatedBeats implements Beats {
  readonly #instance: string;
  readonly #process: SimulatedProcess;
  readonly #network: Network;
  readonly #others: readonly string[];
  readonly #hear: (name: string, sight: Omit<ReplicaSight, "heardAtMs">) => void;
  readonly #heard = new Map<string, ReplicaSight>();

  constructor(
    instance: string,
    process: SimulatedProcess,
    network: Network,
    others: readonly string[],
    hear: (name: string, sight: Omit<ReplicaSight, "heardAtMs">) => void,
  ) {
    this.#instance = instance;
    this.#process = process;
    this.#network = network;
    this.#others = others;
    this.#hear = hear;
  }

  get replicas(): readonly ReplicaSight[] {
    return [...this.#heard.values()];
  }

  send(beat: OwnBeat): void {
    const sight = { ...beat, instance: this.#instance };
    for (const name of this.#others) this.#network.send(this.#process.name, name, () => this.#hear(name, sight));
  }

  hear(sight: Omit<ReplicaSight, "heardAtMs">): void {
    this.#heard.set(sight.instance, { ...sight, heardAtMs: this.#process.now() });
  }
}
