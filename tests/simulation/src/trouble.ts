import type { SnapshotReference } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import {
  MemoryCompactor,
  type MemoryFaults,
  type MemoryLog,
  type MemorySnapshots,
  randomFaults,
} from "@tenure/log/memory";
import { fairWeather, type Network } from "./network/network.ts";
import type { Incident } from "./schedule.ts";
import type { ReplicaNode } from "./store/replica-node.ts";
import type { SimulatedProcess } from "./time/simulated-process.ts";
import type { VirtualTime } from "./time/virtual-time.ts";

/** One who reads the log. */
export interface LogFollower {
  cutLog(forMs: number): void;
  kill(): void;
}

/** What incidents happen to. */
export interface TroubledWorld {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly snapshots: MemorySnapshots;
  /** Names of the lease store's replicas. */
  readonly replicas: readonly string[];
  /** The replicas of the election service, by name. */
  readonly elections: ReadonlyMap<string, { stop(): void }>;
  readonly firstSequence: bigint;
  log(): MemoryLog;
  nodes(): Iterable<ReplicaNode>;
  nodeOf(name: string): ReplicaNode | undefined;
  processOf(name: string): SimulatedProcess | undefined;
  followerOf(name: string): LogFollower | undefined;
  followers(): Iterable<LogFollower>;
  announced(partition: number): readonly SnapshotReference[];
  chance(purpose: string): Random;
  restart(name: string): void;
  onLost(): void;
}

const sound: MemoryFaults = {};
/** How long a replica of the election service has to hand over what it coordinates. */
const rollMs = 50;

/** Has incidents happen, until everything heals. */
export class Trouble {
  readonly #world: TroubledWorld;
  #logFaults: MemoryFaults = sound;
  #isHealed = false;
  /** Incidents, and appends that they spoilt. */
  faults = 0;

  constructor(world: TroubledWorld) {
    this.#world = world;
  }

  /** The log's faults of the moment. Delays are there in the best of times. */
  logFaults(): MemoryFaults {
    const random = this.#world.chance("log");
    const fair = (most: number) => random.next() * most;
    return {
      onAppend: (append) => {
        const fault = this.#isHealed ? undefined : this.#logFaults.onAppend?.(append);
        if (fault === undefined) return { kind: "delayed", requestMs: fair(2), replyMs: fair(2) };
        if (fault.kind !== "delayed" || fault.requestMs > append.timeoutMs) this.faults += 1;
        return fault;
      },
      onRead: (read) => this.#logFaults.onRead?.(read) ?? { kind: "delayed", replyMs: fair(3) },
      deliveryMs: (delivery) => this.#logFaults.deliveryMs?.(delivery) ?? fair(3),
    };
  }

  heal(): void {
    this.#isHealed = true;
    this.#world.network.weather = fairWeather;
    this.#logFaults = sound;
  }

  strike(incident: Incident): void {
    const { network, processOf, replicas, snapshots, time } = this.#world;
    this.faults += 1;
    switch (incident.kind) {
      case "crash":
        this.#crash(incident.process, incident.forMs);
        return;
      case "pause":
        processOf(incident.process)?.pause(incident.forMs);
        return;
      case "suspend":
        processOf(incident.process)?.suspend(incident.forMs);
        return;
      case "jumpWall":
        processOf(incident.process)?.jumpWall(incident.byMs);
        return;
      case "partition":
        network.cut(incident.one, incident.other, incident.forMs);
        if (!incident.isOneWay) network.cut(incident.other, incident.one, incident.forMs);
        return;
      case "isolate":
        this.#isolate(incident);
        return;
      case "crashAll":
        for (const name of replicas) this.#crash(name, incident.forMs);
        return;
      case "roll":
        for (const [name, replica] of this.#world.elections) {
          replica.stop();
          time.after(rollMs, () => this.#crash(name, incident.forMs));
        }
        return;
      case "cutLog":
        this.#world.followerOf(incident.process)?.cutLog(incident.forMs);
        return;
      case "failOver":
        this.#world.log().failOver(incident.forMs);
        return;
      case "weather":
        network.weather = incident.weather;
        time.after(incident.forMs, () => {
          if (network.weather === incident.weather) network.weather = fairWeather;
        });
        return;
      case "logTrouble":
        this.#trouble(incident);
        return;
      case "usurp":
        this.#usurp(incident);
        return;
      case "handOver":
        this.#handOver(incident);
        return;
      case "snapshotsDown":
        snapshots.isDown = true;
        time.after(incident.forMs, () => {
          snapshots.isDown = false;
        });
        return;
      case "compact":
        this.#compact(incident.partition);
        return;
      case "loseLog":
        this.#loseLog(incident.messages);
        return;
    }
  }

  /** Cuts a process off from every replica: both ways, or so that its requests pass and the answers are lost. */
  #isolate({ forMs, isOneWay, process }: Extract<Incident, { kind: "isolate" }>): void {
    const { network, replicas } = this.#world;
    for (const name of replicas) {
      network.cut(name, process, forMs);
      if (!isOneWay) network.cut(process, name, forMs);
    }
  }

  #crash(name: string, forMs: number): void {
    const process = this.#world.processOf(name);
    if (process?.isAlive !== true) return;
    this.#world.followerOf(name)?.kill();
    process.kill();
    this.#world.time.after(forMs, () => this.#world.restart(name));
  }

  #trouble({ forMs, rates }: Extract<Incident, { kind: "logTrouble" }>): void {
    const faults = randomFaults(this.#world.chance("log trouble"), rates);
    this.#logFaults = faults;
    this.#world.time.after(forMs, () => {
      if (this.#logFaults === faults) this.#logFaults = sound;
    });
  }

  /** Takes a partition over without regard for its owner: whatever beats get wrong, the log must bear it. */
  #usurp({ partition, process }: Extract<Incident, { kind: "usurp" }>): void {
    const node = this.#world.nodeOf(process);
    node?.process.deliver(() => node.replica.at(partition).takeOver(false));
  }

  #handOver({ partition, to }: Extract<Incident, { kind: "handOver" }>): void {
    const successor = this.#world.nodeOf(to)?.instance ?? "";
    for (const node of this.#world.nodes()) {
      const owned = node.replica.at(partition);
      if (owned.role === "owning") node.process.deliver(() => void owned.handOver(successor));
    }
  }

  /** Purges below the previous snapshot, as the compactor does, whatever is going on. */
  #compact(partition: number): void {
    const { announced, snapshots } = this.#world;
    const [previous, latest] = announced(partition).slice(-2);
    if (previous === undefined || latest === undefined || previous.sequence === latest.sequence) return;
    const compactor = new MemoryCompactor(this.#world.log(), snapshots);
    void compactor.compact({ partition, latest, previous, outdated: [] }).catch(() => undefined);
  }

  /** Servers that crash before they have synced: everybody's connection is gone for a moment, and so is the end. */
  #loseLog(messages: number): void {
    const { chance, firstSequence, followers, onLost } = this.#world;
    const log = this.#world.log();
    const wanted = log.lastSequence - BigInt(messages);
    log.lose(wanted >= firstSequence ? wanted : firstSequence - 1n);
    onLost();
    const random = chance("loss");
    // Mostly briefly; some so long that the log has its old length again when they look.
    for (const follower of followers()) follower.cutLog(5 + random.next() ** 2 * 1_200);
  }
}
