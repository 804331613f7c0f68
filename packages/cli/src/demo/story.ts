import { MigrationServiceApplyRequest } from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import type { Observation, Tenure } from "@tenure/sdk";
import type { Terminal } from "../output/terminal.ts";
import { controller, type Manager, migrationDocument, startManager } from "./controller-move.ts";
import { Fleet } from "./fleet.ts";
import { type LaneState, Stage } from "./stage.ts";

const lease = "demo/scheduler";
const names = ["node-1", "node-2", "node-3"] as const;
const oldVersion = "1.20.0";
const newVersion = "1.21.0";
/** Long enough to look at, short enough for two minutes in all. */
const lookMs = 4_000;
/** A step that takes longer than this has failed. */
const patienceMs = 60_000;

const oldManager = "old-manager";
const newManager = "new-manager";

/** The product in two minutes: a fleet, an election, an upgrade, a crash, a controller that moves. */
export class Story {
  readonly #tenure: Tenure;
  readonly #fleet: Fleet;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  /** Aborted by what goes wrong behind the scenes. */
  readonly #failed = new AbortController();
  readonly #managers = new Map<string, Manager>();
  #leader = "";
  #token = 0n;

  constructor(tenure: Tenure, endpoint: string, terminal: Terminal, signal: AbortSignal) {
    this.#tenure = tenure;
    this.#signal = AbortSignal.any([signal, this.#failed.signal]);
    this.#fleet = new Fleet(endpoint, lease);
    this.#stage = new Stage(terminal, () => this.#lanes());
  }

  /** Tells it all, and then what `epilogue` has to say while everything still runs; what it started is gone afterwards. */
  async tell(epilogue: () => Promise<void>): Promise<void> {
    const watched = new AbortController();
    const signal = AbortSignal.any([this.#signal, watched.signal]);
    this.#follow(signal).catch((error: unknown) => this.#failed.abort(error));
    try {
      await this.#fleetStarts();
      await this.#upgradeRolls();
      await this.#leaderDies();
      await this.#controllerMoves();
      this.#stage[Symbol.dispose]();
      await epilogue();
    } finally {
      watched.abort();
      this.#stage[Symbol.dispose]();
      for (const manager of this.#managers.values()) await manager.stop();
      await this.#fleet[Symbol.asyncDispose]();
    }
  }

  async #fleetStarts(): Promise<void> {
    this.#stage.open(`a fleet of three starts with ${oldVersion}`);
    this.#stage.tell("each node runs one program, and one of them leads:");
    for (const line of this.#fleet.commandText("node-N", oldVersion)) this.#stage.tell(line);
    for (const name of names) this.#fleet.start(name, oldVersion);
    await this.#until(() => this.#leader !== "", "a leader");
    await this.#look();
  }

  async #upgradeRolls(): Promise<void> {
    this.#stage.open(`an upgrade to ${newVersion} rolls through, the leader first`);
    this.#stage.tell("the oldest version leads: nobody acts on what others do not know yet");
    const first = this.#leader;
    for (const name of [first, ...names.filter((one) => one !== first)]) {
      this.#stage.tell(`${name} is upgraded`);
      const token = this.#token;
      const wasLeader = name === this.#leader;
      await this.#fleet.end(name, "SIGTERM");
      this.#fleet.start(name, newVersion);
      if (wasLeader) await this.#until(() => this.#token > token && this.#leader !== "", "the next leader");
      await this.#look();
    }
  }

  async #leaderDies(): Promise<void> {
    const name = this.#leader;
    const token = this.#token;
    this.#stage.open(`${name} is killed (SIGKILL)`);
    this.#stage.tell("nobody may lead before its term is surely over");
    await this.#fleet.end(name, "SIGKILL");
    await this.#until(() => this.#token > token && this.#leader !== "", "the next leader");
    await this.#look();
    this.#stage.tell(`${name} comes back`);
    this.#fleet.start(name, newVersion);
    await this.#look();
  }

  async #controllerMoves(): Promise<void> {
    this.#stage.open(`the controller ${controller} moves from ${oldManager} to ${newManager}`);
    this.#stage.tell("a migration lock lets one of them run it, never both");
    await this.#tenure.session.change("MigrationService.Apply", (attempt) =>
      MigrationServiceApplyRequest.fromPartial({ attempt, document: migrationDocument, namespace: "demo" }),
    );
    this.#join(oldManager, oldVersion);
    await this.#until(() => this.#managers.get(oldManager)?.isRunning === true, `${controller} in ${oldManager}`);
    await this.#look();
    this.#join(newManager, newVersion);
    this.#stage.tell(`${newManager} is installed beside it, and waits`);
    await this.#look();
    this.#stage.tell(`${oldManager} goes away`);
    await this.#managers.get(oldManager)?.stop();
    this.#managers.delete(oldManager);
    await this.#until(() => this.#managers.get(newManager)?.isRunning === true, `${controller} in ${newManager}`);
    await this.#look();
  }

  #join(name: string, version: string): void {
    this.#managers.set(
      name,
      startManager(this.#tenure, name, version, (text) => this.#stage.tell(text)),
    );
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const seen of this.#tenure.observe(lease, { signal })) this.#see(seen);
  }

  #see(seen: Observation): void {
    if (seen.kind === "vacant") {
      if (this.#leader !== "") this.#stage.tell("nobody leads");
      this.#leader = "";
      return;
    }
    if (seen.successor) this.#stage.tell(`${seen.holder} is asked to finish for ${seen.successor}`);
    else if (seen.token !== this.#token) this.#stage.tell(`${seen.holder} leads with token ${seen.token}`);
    this.#leader = seen.holder;
    this.#token = seen.token;
  }

  #lanes(): readonly LaneState[] {
    const moved = [oldManager, newManager].map((name): LaneState => {
      const manager = this.#managers.get(name);
      const state = manager === undefined ? "absent" : manager.isRunning ? "leads" : "waits";
      return { name, note: manager?.isRunning === true ? controller : "", state };
    });
    return [...names.map((name) => this.#laneOf(name)), ...moved.slice(0, this.#managers.size === 0 ? 0 : 2)];
  }

  #laneOf(name: string): LaneState {
    const node = this.#fleet.nodes.get(name);
    const state = node === undefined ? "absent" : name === this.#leader ? "leads" : "waits";
    return { name, note: node?.version ?? "", state };
  }

  async #look(): Promise<void> {
    await systemClock.sleep(lookMs, this.#signal);
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    const endsAtMs = systemClock.now() + patienceMs;
    while (!condition()) {
      if (systemClock.now() > endsAtMs) throw new Error(`waited ${patienceMs / 1_000} s in vain for ${what}`);
      await systemClock.sleep(50, this.#signal);
    }
  }
}
