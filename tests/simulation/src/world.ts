import { hash32, type SnapshotReference } from "@tenure/core";
import { type Random, seededRandom } from "@tenure/kernel";
import { MemoryCompactor, type MemoryFaults, MemoryLog, MemorySnapshots, randomFaults } from "@tenure/log/memory";
import { Candidate } from "./actors/candidate.ts";
import { Coordinator } from "./actors/coordinator.ts";
import { Holder } from "./actors/holder.ts";
import { Operator } from "./actors/operator.ts";
import { Reader } from "./actors/reader.ts";
import { StoreClient } from "./actors/store-client.ts";
import type { HolderFlaws, HolderOptions, TermListener } from "./actors/term-life.ts";
import { Watcher, type WatchServer } from "./actors/watcher.ts";
import { fairWeather, Network } from "./network/network.ts";
import { Oracles } from "./oracle/oracles.ts";
import type { LeasePlan } from "./profile.ts";
import { type Incident, namesOf, type Schedule } from "./schedule.ts";
import { GatewayNode } from "./store/gateway-node.ts";
import { type NodeListener, type NodeWorld, type PortChanges, ReplicaNode } from "./store/replica-node.ts";
import { productionCode, type StoreCode } from "./store/store-code.ts";
import { rateError } from "./store/timing.ts";
import { SimulatedProcess } from "./time/simulated-process.ts";
import { VirtualTime } from "./time/virtual-time.ts";

/** What a world is built from, beside its schedule. Left out: everything as it is in production. */
export interface WorldParts {
  readonly code?: StoreCode;
  readonly ports?: PortChanges;
  readonly flaws?: HolderFlaws;
}

const sound: MemoryFaults = {};
/** As in production, a suspicion is looked at again after the longest time that an old leader's answers can come. */
const auditPace = { intervalMs: 1_000, confirmMs: 2_600 };

/** A seeded world: replicas, holders, readers and an operator on one log, one network and one true clock. */
export class World {
  readonly time = new VirtualTime();
  readonly oracles: Oracles;
  readonly log: MemoryLog;
  /** What went wrong: incidents, and messages and appends that they spoilt. */
  faults = 0;
  readonly #schedule: Schedule;
  readonly #flaws: HolderFlaws;
  readonly #network: Network;
  readonly #snapshots = new MemorySnapshots();
  readonly #nodes = new Map<string, ReplicaNode>();
  readonly #gateways = new Map<string, GatewayNode>();
  readonly #byInstance = new Map<string, ReplicaNode>();
  readonly #processes = new Map<string, SimulatedProcess>();
  readonly #holders = new Map<string, Holder>();
  readonly #candidates = new Map<string, Candidate>();
  readonly #lives = new Map<string, number>();
  readonly #nodeWorld: NodeWorld;
  readonly #leases: readonly LeasePlan[];
  #logFaults: MemoryFaults = sound;
  #isHealed = false;

  constructor(schedule: Schedule, { code = productionCode, flaws = {}, ports = {} }: WorldParts) {
    this.#schedule = schedule;
    this.#flaws = flaws;
    this.#leases = schedule.profile.leases(schedule.leases);
    this.#network = new Network(this.time, this.#chance("network"));
    const { time } = this;
    const clock = new SimulatedProcess(time, { name: "log", rate: 1 }, 0);
    const firstSequence = BigInt(schedule.firstSequence);
    const audit = schedule.profile.losesLog ? { auditPace } : undefined;
    this.log = new MemoryLog({ clock, faults: this.#faults(), firstSequence, ...audit });
    const { partitions, snapshotAfterBatches } = schedule;
    const capacityOf = (lease: string) => this.#leases.find(({ key }) => key === lease)?.spec.capacity ?? 0;
    this.oracles = new Oracles(time, this.log, partitions, (instance) => this.#byInstance.get(instance), capacityOf);
    const shared = { code, ports, time, network: this.#network, log: this.log, snapshots: this.#snapshots };
    const names = namesOf(schedule).replicas;
    const nodeOf = (name: string) => this.#nodes.get(name);
    const listener = this.#nodeListener();
    this.#nodeWorld = { ...shared, listener, partitions, names, snapshotAfterBatches, nodeOf };
  }

  /** Starts everything and has every incident happen at its time. */
  begin(): void {
    const { candidates, coordinators, gateways, holders, replicas, watchers } = namesOf(this.#schedule);
    const clients = [...holders, ...candidates, ...coordinators, "reader", "operator"];
    for (const name of [...replicas, ...gateways, ...watchers, ...clients]) this.#start(name);
    for (const incident of this.#schedule.incidents) {
      this.time.after(incident.atMs, () => {
        this.faults += 1;
        this.#strike(incident);
      });
    }
    this.time.after(this.#schedule.healAtMs, () => this.#heal());
  }

  /** Ends everybody who changes anything but the replicas, so that the log comes to rest. */
  retire(): void {
    const { gateways, replicas, watchers } = namesOf(this.#schedule);
    const staying = new Set([...gateways, ...replicas, ...watchers]);
    for (const [name, process] of this.#processes) if (!staying.has(name)) process.kill();
  }

  /** What holders wait for, since when on the true clock; candidates wait as long as they live. */
  *waits(): Iterable<{ readonly leases: readonly string[]; readonly who: string; readonly sinceMs: number }> {
    const { healAtMs } = this.#schedule;
    for (const [who, { waiting }] of this.#holders) {
      const process = this.#processes.get(who);
      if (waiting === undefined || process === undefined) continue;
      yield { who, leases: waiting.leases, sinceMs: Math.max(process.trueTimeOf(waiting.sinceBootMs), healAtMs) };
    }
    if (this.#candidates.size === 0) return;
    for (const { key, use } of this.#leases) {
      if (use === "elected") yield { who: "its candidates", leases: [key], sinceMs: healAtMs };
    }
  }

  get nodes(): Iterable<ReplicaNode> {
    return this.#nodes.values();
  }

  get spoilt(): number {
    return this.#network.faults + this.faults;
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
    this.#processes.set(name, process);
    if (this.#nodeWorld.names.includes(name)) {
      const node = new ReplicaNode(
        this.#nodeWorld,
        process,
        life,
        hash32(`${this.#schedule.seed}/${name}/${life}/ids`),
      );
      this.#nodes.set(name, node);
      this.#byInstance.set(node.instance, node);
      return;
    }
    const { gateways, watchers } = namesOf(this.#schedule);
    if (gateways.includes(name)) {
      const seed = hash32(`${this.#schedule.seed}/${name}/${life}/ids`);
      this.#gateways.set(name, new GatewayNode(this.#nodeWorld, process, seed));
      return;
    }
    if (watchers.includes(name)) {
      const servers = (): readonly WatchServer[] => [...this.#nodes.values(), ...this.#gateways.values()];
      void new Watcher(process, random, servers, this.oracles.watcherListener(name)).run();
      return;
    }
    this.#network.join(process);
    this.#startClient(name, new StoreClient(this.#nodeWorld, process, random, life), random);
  }

  #startClient(name: string, client: StoreClient, random: Random): void {
    const keys = this.#leases.map(({ key }) => key);
    const elected = this.#leases.filter(({ use }) => use === "elected").map(({ key }) => key);
    const { candidates, coordinators } = namesOf(this.#schedule);
    if (name === "reader") void new Reader(client, random, keys, this.#readListener()).run();
    else if (name === "operator") {
      void new Operator(client, random, keys, this.#schedule.profile.isMeddling).run();
    } else if (coordinators.includes(name)) void new Coordinator(client, random, elected).run();
    else if (candidates.includes(name)) {
      const candidate = new Candidate(this.#holderOptions(client, random));
      this.#candidates.set(name, candidate);
      void candidate.run();
    } else {
      const holder = new Holder(this.#holderOptions(client, random));
      this.#holders.set(name, holder);
      void holder.run();
    }
  }

  #readListener() {
    const { oracles } = this;
    return {
      onRead: oracles.onRead.bind(oracles),
      onPlainRead: oracles.onPlainRead.bind(oracles),
      endOf: (partition: number) => oracles.logs[partition]?.lastSequence ?? 0n,
    };
  }

  #holderOptions(client: StoreClient, random: Random): HolderOptions {
    const { court, terms } = this.oracles;
    const listener: TermListener = {
      onBegin: (term) => this.oracles.onBegin(term),
      onExtend: (term, deadlineMs) => court.examine(() => terms.extend(term, deadlineMs)),
    };
    return { client, random, leases: this.#leases, listener, flaws: this.#flaws };
  }

  /** What replicas tell: the oracles, and by the network those who were chosen. */
  #nodeListener(): NodeListener {
    const oracles = this.oracles.nodeListener;
    return {
      ...oracles,
      onApplied: (node, applied) => {
        oracles.onApplied(node, applied);
        for (const event of applied.events) {
          if (event.kind !== "holdPending") continue;
          const { candidate, token } = event.pending;
          const arrive = () => void this.#candidates.get(candidate)?.elected(event.lease, token);
          this.#network.send(node.name, candidate, arrive);
        }
      },
    };
  }

  #strike(incident: Incident): void {
    switch (incident.kind) {
      case "crash":
        this.#crash(incident.process, incident.forMs);
        return;
      case "pause":
        this.#processes.get(incident.process)?.pause(incident.forMs);
        return;
      case "suspend":
        this.#processes.get(incident.process)?.suspend(incident.forMs);
        return;
      case "jumpWall":
        this.#processes.get(incident.process)?.jumpWall(incident.byMs);
        return;
      case "partition":
        this.#network.cut(incident.one, incident.other, incident.forMs);
        if (!incident.isOneWay) this.#network.cut(incident.other, incident.one, incident.forMs);
        return;
      case "isolate":
        this.#isolate(incident);
        return;
      case "crashAll":
        for (const name of this.#nodeWorld.names) this.#crash(name, incident.forMs);
        return;
      case "cutLog":
        (this.#nodes.get(incident.process) ?? this.#gateways.get(incident.process))?.cutLog(incident.forMs);
        return;
      case "failOver":
        this.log.failOver(incident.forMs);
        return;
      case "weather":
        this.#network.weather = incident.weather;
        this.time.after(incident.forMs, () => {
          if (this.#network.weather === incident.weather) this.#network.weather = fairWeather;
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
        this.#snapshots.isDown = true;
        this.time.after(incident.forMs, () => {
          this.#snapshots.isDown = false;
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
    for (const name of this.#nodeWorld.names) {
      this.#network.cut(name, process, forMs);
      if (!isOneWay) this.#network.cut(process, name, forMs);
    }
  }

  #crash(name: string, forMs: number): void {
    if (this.#processes.get(name)?.isAlive !== true) return;
    (this.#nodes.get(name) ?? this.#gateways.get(name))?.kill();
    this.#processes.get(name)?.kill();
    this.time.after(forMs, () => this.#start(name));
  }

  #trouble({ forMs, rates }: Extract<Incident, { kind: "logTrouble" }>): void {
    const faults = randomFaults(this.#chance("log trouble"), rates);
    this.#logFaults = faults;
    this.time.after(forMs, () => {
      if (this.#logFaults === faults) this.#logFaults = sound;
    });
  }

  /** Takes a partition over without regard for its owner: whatever beats get wrong, the log must bear it. */
  #usurp({ partition, process }: Extract<Incident, { kind: "usurp" }>): void {
    const node = this.#nodes.get(process);
    node?.process.deliver(() => node.replica.at(partition).takeOver(false));
  }

  #handOver({ partition, to }: Extract<Incident, { kind: "handOver" }>): void {
    const successor = this.#nodes.get(to)?.instance ?? "";
    for (const node of this.#nodes.values()) {
      const owned = node.replica.at(partition);
      if (owned.role === "owning") node.process.deliver(() => void owned.handOver(successor));
    }
  }

  /** Purges below the previous snapshot, as the compactor does, whatever is going on. */
  #compact(partition: number): void {
    const announced = this.#announced(partition);
    const [previous, latest] = announced.slice(-2);
    if (previous === undefined || latest === undefined || previous.sequence === latest.sequence) return;
    const compactor = new MemoryCompactor(this.log, this.#snapshots);
    void compactor.compact({ partition, latest, previous, outdated: [] }).catch(() => undefined);
  }

  /** Servers that crash before they have synced: everybody's connection is gone for a moment, and so is the end. */
  #loseLog(messages: number): void {
    const first = BigInt(this.#schedule.firstSequence);
    const wanted = this.log.lastSequence - BigInt(messages);
    this.log.lose(wanted >= first ? wanted : first - 1n);
    this.oracles.onLost(this.#nodes.values());
    const random = this.#chance("loss");
    for (const node of [...this.#nodes.values(), ...this.#gateways.values()]) node.cutLog(5 + random.next() * 200);
  }

  #announced(partition: number): readonly SnapshotReference[] {
    return this.oracles.logs[partition]?.announced ?? [];
  }

  #heal(): void {
    this.#isHealed = true;
    this.#network.weather = fairWeather;
    this.#logFaults = sound;
  }

  /** The log's faults of the moment. Delays are there in the best of times. */
  #faults(): MemoryFaults {
    const random = this.#chance("log");
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
}
