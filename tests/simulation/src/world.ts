import { hash32 } from "@tenure/core";
import { type Random, seededRandom } from "@tenure/kernel";
import { MemoryLog, MemorySnapshots } from "@tenure/log/memory";
import type { Candidate } from "./actors/candidate.ts";
import { StoreClient } from "./actors/store-client.ts";
import type { HolderFlaws } from "./actors/term-life.ts";
import { Watcher, type WatchServer } from "./actors/watcher.ts";
import { Crew } from "./crew.ts";
import { Network } from "./network/network.ts";
import { Oracles } from "./oracle/oracles.ts";
import { namesOf, type Schedule } from "./schedule.ts";
import { ElectionNode } from "./store/election-node.ts";
import { GatewayNode } from "./store/gateway-node.ts";
import { type NodeListener, type NodeWorld, type PortChanges, ReplicaNode } from "./store/replica-node.ts";
import { productionCode, type StoreCode } from "./store/store-code.ts";
import { rateError } from "./store/timing.ts";
import { SimulatedProcess } from "./time/simulated-process.ts";
import { VirtualTime } from "./time/virtual-time.ts";
import { type LogFollower, Trouble } from "./trouble.ts";

/** What a world is built from, beside its schedule. Left out: everything as it is in production. */
export interface WorldParts {
  readonly code?: StoreCode;
  readonly ports?: PortChanges;
  readonly flaws?: HolderFlaws;
}

/** As in production, a suspicion is looked at again after the longest time that an old leader's answers can come. */
const auditPace = { intervalMs: 1_000, confirmMs: 2_600 };

/** A seeded world: replicas, holders, readers and an operator on one log, one network and one true clock. */
export class World {
  readonly time = new VirtualTime();
  readonly oracles: Oracles;
  readonly log: MemoryLog;
  readonly crew: Crew;
  readonly #schedule: Schedule;
  readonly #names: ReturnType<typeof namesOf>;
  readonly #network: Network;
  readonly #trouble: Trouble;
  readonly #nodes = new Map<string, ReplicaNode>();
  readonly #gateways = new Map<string, GatewayNode>();
  readonly #elections = new Map<string, ElectionNode>();
  readonly #byInstance = new Map<string, ReplicaNode>();
  readonly #processes = new Map<string, SimulatedProcess>();
  readonly #lives = new Map<string, number>();
  readonly #nodeWorld: NodeWorld;

  constructor(schedule: Schedule, { code = productionCode, flaws = {}, ports = {} }: WorldParts) {
    this.#schedule = schedule;
    this.#names = namesOf(schedule);
    this.#network = new Network(this.time, this.#chance("network"));
    const { time } = this;
    const clock = new SimulatedProcess(time, { name: "log", rate: 1 }, 0);
    const firstSequence = BigInt(schedule.firstSequence);
    const audit = schedule.profile.losesLog ? { auditPace } : undefined;
    const snapshots = new MemorySnapshots();
    const nodeOf = (name: string) => this.#nodes.get(name);
    this.#trouble = this.#makeTrouble(snapshots);
    this.log = new MemoryLog({ clock, faults: this.#trouble.logFaults(), firstSequence, ...audit });
    const { partitions, snapshotAfterBatches } = schedule;
    const capacityOf = (lease: string) => this.crew.capacityOf(lease);
    this.oracles = new Oracles(time, this.log, partitions, (instance) => this.#byInstance.get(instance), capacityOf);
    const { electionChanges, elections } = schedule.profile;
    if (elections > 0 && Number.isFinite(electionChanges)) this.oracles.leaders.count();
    const isQuiet = () => time.nowMs >= schedule.healAtMs;
    const announce = (from: string, liveness: Uint8Array) => this.#announce(from, liveness);
    this.crew = new Crew({ schedule, oracles: this.oracles, flaws, isQuiet, announce });
    const shared = { code, ports, time, network: this.#network, log: this.log, snapshots };
    const names = this.#names.replicas;
    const listener = this.#nodeListener();
    this.#nodeWorld = { ...shared, listener, partitions, names, snapshotAfterBatches, nodeOf };
  }

  /** Starts everything and has every incident happen at its time. */
  begin(): void {
    const { elections, gateways, replicas, watchers } = this.#names;
    for (const name of [...replicas, ...gateways, ...watchers, ...this.crew.names, ...elections]) this.#start(name);
    for (const incident of this.#schedule.incidents) {
      this.time.after(incident.atMs, () => this.#trouble.strike(incident));
    }
    this.time.after(this.#schedule.healAtMs, () => this.#trouble.heal());
  }

  /** Ends everybody who changes anything but the replicas, so that the log comes to rest. */
  retire(): void {
    const { gateways, replicas, watchers } = this.#names;
    const staying = new Set([...gateways, ...replicas, ...watchers]);
    for (const [name, process] of this.#processes) if (!staying.has(name)) process.kill();
  }

  get nodes(): Iterable<ReplicaNode> {
    return this.#nodes.values();
  }

  /** What went wrong: incidents, and messages and appends that they spoilt. */
  get spoilt(): number {
    return this.#network.faults + this.#trouble.faults;
  }

  #makeTrouble(snapshots: MemorySnapshots): Trouble {
    const { time } = this;
    return new Trouble({
      time,
      network: this.#network,
      snapshots,
      replicas: this.#names.replicas,
      firstSequence: BigInt(this.#schedule.firstSequence),
      log: () => this.log,
      nodes: () => this.#nodes.values(),
      nodeOf: (name) => this.#nodes.get(name),
      processOf: (name) => this.#processes.get(name),
      followerOf: (name) => this.#followerOf(name),
      followers: () => [...this.#nodes.values(), ...this.#gateways.values(), ...this.#elections.values()],
      announced: (partition) => this.oracles.logs[partition]?.announced ?? [],
      chance: (purpose) => this.#chance(purpose),
      restart: (name) => this.#start(name),
      elections: this.#elections,
      onLost: () => this.oracles.onLost(this.#nodes.values()),
    });
  }

  #followerOf(name: string): LogFollower | undefined {
    return this.#nodes.get(name) ?? this.#gateways.get(name) ?? this.#elections.get(name);
  }

  /** Chance of its own for each purpose, so that one fault less leaves the others as they were. */
  #chance(purpose: string): Random {
    return seededRandom(hash32(`${this.#schedule.seed}/${purpose}`));
  }

  #start(name: string): void {
    const life = (this.#lives.get(name) ?? 0) + 1;
    this.#lives.set(name, life);
    const random = this.#chance(`${name}/${life}`);
    // Half of the clocks err as much as they may.
    const dice = random.next();
    const error = dice < 0.25 ? -1 : dice < 0.5 ? 1 : 2 * random.next() - 1;
    const rate = 1 + error * rateError;
    const process = new SimulatedProcess(this.time, { name, rate }, 10_000 + random.next() * 1_000_000);
    const seed = hash32(`${this.#schedule.seed}/${name}/${life}/ids`);
    const { elections, gateways, replicas, watchers } = this.#names;
    this.#processes.set(name, process);
    if (replicas.includes(name)) {
      const node = new ReplicaNode(this.#nodeWorld, process, life, seed);
      this.#nodes.set(name, node);
      this.#byInstance.set(node.instance, node);
      return;
    }
    if (gateways.includes(name)) {
      this.#gateways.set(name, new GatewayNode(this.#nodeWorld, process, seed));
      return;
    }
    if (watchers.includes(name)) {
      const servers = (): readonly WatchServer[] => [...this.#nodes.values(), ...this.#gateways.values()];
      void new Watcher(process, random, servers, this.oracles.watcherListener(name)).run();
      return;
    }
    this.#network.join(process);
    const client = new StoreClient(this.#nodeWorld, process, random, life);
    if (elections.includes(name)) this.#startElection(name, client, seed);
    else this.crew.start(name, client, random);
  }

  #startElection(name: string, client: StoreClient, seed: number): void {
    const world = {
      ...this.#nodeWorld,
      // One that does not run is not heard of.
      peers: () => this.#electionPeers(),
      choicesOf: (node: ElectionNode) => this.oracles.choicesOf(node),
    };
    this.#elections.set(name, new ElectionNode(world, client.process, client, seed));
  }

  #electionPeers(): readonly string[] {
    const running = [...this.#elections.values()].filter(({ process }) => process.isAlive && !process.isStopped);
    return running.map(({ instance }) => instance);
  }

  #announce(from: string, liveness: Uint8Array): void {
    for (const [to] of this.#elections) this.#network.send(from, to, () => this.#elections.get(to)?.hear(liveness));
  }

  /** What replicas tell: the oracles, and by the network those who were asked or chosen. */
  #nodeListener(): NodeListener {
    const oracles = this.oracles.nodeListener;
    return {
      ...oracles,
      onApplied: (node, applied) => {
        oracles.onApplied(node, applied);
        for (const event of applied.events) {
          if (event.kind === "endOfTermMarked") {
            this.#tell(node, event.endOfTerm.preferredHolder, (it) => it.named(event.lease));
          } else if (event.kind === "holdPending") {
            const { candidate, token } = event.pending;
            this.#tell(node, candidate, (it) => it.elected(event.lease, token));
          } else if (event.kind === "candidatesPinged") {
            for (const { candidate, pingNumber } of event.questions) {
              this.#tell(node, candidate, (it) => it.asked(event.lease, pingNumber));
            }
          }
        }
      },
    };
  }

  #tell(node: ReplicaNode, candidate: string, tell: (candidate: Candidate) => Promise<void>): void {
    this.#network.send(node.name, candidate, () => {
      const it = this.crew.candidateOf(candidate);
      if (it !== undefined) void tell(it);
    });
  }
}
