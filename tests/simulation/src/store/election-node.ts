import { CandidateLiveness } from "@tenure/contracts";
import type { Coordination } from "@tenure/election/coordinator";
import { celRankings } from "@tenure/expression";
import { seededRandom } from "@tenure/kernel";
import type { MemoryTransport } from "@tenure/log/memory";
import type { LogReader } from "@tenure/reader";
import type { StoreClient } from "../actors/store-client.ts";
import type { SimulatedProcess } from "../time/simulated-process.ts";
import { codec } from "./codec.ts";
import { type ChoiceListener, SimulatedElectionStore } from "./election-store.ts";
import { ProcessTransport, processSnapshots } from "./process-transport.ts";
import { incarnationId, type NodeWorld, watchLimits } from "./replica-node.ts";
import { Sights } from "./sights.ts";
import { StreamsHeard } from "./streams-heard.ts";
import { electionTiming, shardLeaseDurationMs, shards } from "./timing.ts";

/** What the replicas of the election service share. */
export interface ElectionWorld extends NodeWorld {
  /** The instances that are there. */
  peers(): readonly string[];
  choicesOf(node: ElectionNode): ChoiceListener;
}

/** Who all replicas of the election service are to the store. */
export const electionPrincipal = "election";

/** Compiled once for all worlds: expressions depend on nothing. */
const expressions = celRankings();

/** One life of one replica of the election service: the production coordination on a reader of the simulated log. */
export class ElectionNode {
  readonly instance: string;
  readonly process: SimulatedProcess;
  readonly reader: LogReader;
  readonly sights = new Sights();
  readonly #world: ElectionWorld;
  readonly #transport: MemoryTransport;
  readonly #coordination: Coordination;
  readonly #streams = new StreamsHeard();
  #hear: (payload: Uint8Array) => void = () => {};
  /** Since when it follows the log batch by batch. */
  followedSinceMs: number | undefined;

  constructor(world: ElectionWorld, process: SimulatedProcess, client: StoreClient, seed: number) {
    const { code, log, partitions, snapshots, time } = world;
    this.#world = world;
    this.instance = client.clientId;
    this.process = process;
    this.#transport = log.connect(process.name);
    const random = seededRandom(seed);
    const transport = new ProcessTransport(this.#transport, process, time, this.sights);
    const store = processSnapshots(snapshots, process, time, () => 5 + random.next() * 20, this.sights);
    const ports = { clock: process, random, transport, snapshots: store, codec };
    const { keptChanges } = watchLimits;
    this.reader = new code.LogReader(
      ports,
      { incarnationId, partitions, keptChanges },
      {
        onReadiness: (isReady) => {
          this.followedSinceMs = isReady ? (this.followedSinceMs ?? process.now()) : undefined;
          this.#coordination.onReadiness(isReady);
        },
        onApplied: (applied) => this.#coordination.onApplied(applied),
      },
    );
    this.#coordination = new code.Coordination({
      clock: process,
      random,
      bus: { subscribe: (_, listener) => this.#subscribe((payload) => listener(payload, "")) },
      reader: this.reader,
      store: new SimulatedElectionStore(client, world.choicesOf(this)),
      expressions,
      instance: this.instance,
      principal: electionPrincipal,
      shards,
      shardLeaseDurationMs,
      commandsUnderWay: 1,
      timing: electionTiming,
      listener: {
        onLook() {},
        onDone() {},
        onRefused() {},
        onTaken() {},
        onLost() {},
        onNotRecorded() {},
      },
      peers: () => world.peers(),
    });
    void this.reader.start().then(() => this.#coordination.begin());
  }

  /** When it last heard a beat of a candidate whose stream it has not seen closed since. */
  beatAtMs(lease: string, candidate: string): number | undefined {
    return this.#streams.beatAtMs(lease, candidate);
  }

  /** An announcement of live streams arrives. */
  hear(payload: Uint8Array): void {
    this.#streams.hear(CandidateLiveness.decode(payload), this.process.now());
    this.#hear(payload);
  }

  /** Loses the connection to the log for so long. */
  cutLog(forMs: number): void {
    this.#transport.cut();
    this.#world.time.after(forMs, () => {
      if (this.process.isAlive) this.#transport.heal();
    });
  }

  /** Hands over what it coordinates. */
  stop(): void {
    this.process.deliver(() => void this.#coordination[Symbol.asyncDispose]());
  }

  /** Ends at once, as kill -9 does. */
  kill(): void {
    this.process.kill();
    this.#transport[Symbol.dispose]();
  }

  #subscribe(hear: (payload: Uint8Array) => void): () => void {
    this.#hear = hear;
    return () => {
      this.#hear = () => {};
    };
  }
}
