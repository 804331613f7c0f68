import { type Attempt, type Command, type PartitionState, partitionOf } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { Network } from "../network/network.ts";
import type { Answer, Committed, ReplicaNode } from "../store/replica-node.ts";
import { timing } from "../store/timing.ts";
import type { SimulatedProcess } from "../time/simulated-process.ts";

/** What a client needs of its world. */
export interface ClientWorld {
  readonly network: Network;
  readonly partitions: number;
  readonly names: readonly string[];
  nodeOf(name: string): ReplicaNode | undefined;
}

/** No answer came in time: whatever was asked may have happened, or may yet. */
export type Outcome<T> = Answer<T> | { readonly kind: "silent" };

/**
 * One process's way to the store: it asks whom it believes to own a partition, learns from refusals, and sends a change
 * again under the same attempt until it is answered or given up.
 */
export class StoreClient {
  readonly process: SimulatedProcess;
  readonly #world: ClientWorld;
  readonly #random: Random;
  readonly #clientId: string;
  /** How often its process has begun. */
  readonly life: number;
  readonly #believed = new Map<number, string>();
  #attempts = 0n;

  constructor(world: ClientWorld, process: SimulatedProcess, random: Random, life: number) {
    this.process = process;
    this.#world = world;
    this.#random = random;
    this.life = life;
    this.#clientId = `${process.name}.${life}`;
  }

  get principal(): string {
    return this.process.name;
  }

  get clientId(): string {
    return this.#clientId;
  }

  partitionOf(lease: string): number {
    return partitionOf(lease, this.#world.partitions);
  }

  /** The next attempt; those before it are never sent again. */
  nextAttempt(): Attempt {
    this.#attempts += 1n;
    return { clientId: this.#clientId, number: this.#attempts, settledBelow: this.#attempts };
  }

  /** Sends a change until it is answered, for so long at most; each copy is made anew by `make`. */
  async change(partition: number, forMs: number, make: () => Command): Promise<Committed | undefined> {
    const untilMs = this.process.now() + forMs;
    while (this.process.now() < untilMs) {
      const outcome = await this.commandOnce(partition, make(), timing.requestTimeoutMs);
      if (outcome.kind === "answered") return outcome.value;
      await this.process.sleep(5 + this.#random.next() * 30);
    }
    return undefined;
  }

  /** Sends one command once. */
  commandOnce(partition: number, command: Command, timeoutMs: number): Promise<Outcome<Committed>> {
    return this.#ask(partition, timeoutMs, (node) => node.command(partition, command));
  }

  /** Opens a wait: `onOutcome` is told of every answer that arrives; gives what abandons it. */
  openWait(partition: number, command: Command, onOutcome: (outcome: Answer<Committed>) => void): () => void {
    const { network } = this.#world;
    const to = this.#target(partition);
    const from = this.process.name;
    const abort = new AbortController();
    network.send(from, to, () => {
      void this.#world
        .nodeOf(to)
        ?.command(partition, command, abort.signal)
        .then((answer) => {
          network.send(to, from, () => {
            this.#learn(partition, answer);
            onOutcome(answer);
          });
        });
    });
    return () => network.send(from, to, () => abort.abort(new Error("the caller has gone")));
  }

  /** Sends a beat of a wait; `onUnknown` is told when the owner does not know it. */
  beat(partition: number, waiterId: string, beatNumber: bigint, onUnknown: () => void): void {
    const { network } = this.#world;
    const to = this.#target(partition);
    const from = this.process.name;
    network.send(from, to, () => {
      const isKnown = this.#world.nodeOf(to)?.beat(partition, waiterId, beatNumber) ?? false;
      if (!isKnown) network.send(to, from, onUnknown);
    });
  }

  /** Reads linearizably, once. */
  read<T>(partition: number, look: (state: PartitionState) => T): Promise<Outcome<T>> {
    return this.#ask(partition, timing.requestTimeoutMs, (node) => node.read(partition, look));
  }

  /** Reads from any replica, not older than `revision`. */
  readPlain<T>(partition: number, revision: bigint, look: (state: PartitionState) => T): Promise<Outcome<T>> {
    this.#believed.delete(partition);
    return this.#ask(partition, 2 * timing.requestTimeoutMs, (node) => node.readPlain(partition, revision, look));
  }

  #ask<T>(partition: number, timeoutMs: number, serve: (node: ReplicaNode) => Promise<Answer<T>>): Promise<Outcome<T>> {
    const { network } = this.#world;
    const to = this.#target(partition);
    const from = this.process.name;
    return new Promise((resolve) => {
      const timer = this.process.schedule(timeoutMs, () => {
        this.#believed.delete(partition);
        resolve({ kind: "silent" });
      });
      network.send(from, to, () => {
        const node = this.#world.nodeOf(to);
        if (node === undefined) return;
        void serve(node).then((answer) => {
          network.send(to, from, () => {
            timer.cancel();
            this.#learn(partition, answer);
            resolve(answer);
          });
        });
      });
    });
  }

  #learn(partition: number, answer: Answer<unknown>): void {
    if (answer.kind === "answered") return;
    if (this.#world.names.includes(answer.owner)) this.#believed.set(partition, answer.owner);
    else this.#believed.delete(partition);
  }

  #target(partition: number): string {
    const { names } = this.#world;
    const believed = this.#believed.get(partition);
    if (believed !== undefined) return believed;
    const guess = names[Math.floor(this.#random.next() * names.length)] ?? "";
    this.#believed.set(partition, guess);
    return guess;
  }
}
