import { fileURLToPath } from "node:url";
import { systemClock } from "@tenure/kernel";
import { lossExitCode } from "@tenure/sdk";
import { type ManagedProcess, type ProcessExit, startProcess, waitFor } from "@tenure/testkit";
import { Journal, type Line } from "./journal.ts";

const program = fileURLToPath(new URL("../../../examples/controller-manager.mjs", import.meta.url));

/** A release of a component as it is deployed. */
export interface Release {
  readonly component: string;
  readonly version: string;
  readonly controllers: readonly string[];
  readonly flags?: readonly string[];
}

/** One manager on one node. */
export interface Manager {
  readonly node: string;
  readonly release: Release;
  /** Component, version and node. */
  readonly runner: string;
  readonly process: ManagedProcess;
  readonly lines: readonly Line[];
}

/** What all managers of a control plane are told. */
export interface PlaneOptions {
  readonly endpoint: string;
  readonly namespace: string;
  readonly leaseDurationMs: number;
  /** No manager is paused, so a controller runs until it says that it has stopped. */
  readonly isUndisturbed?: boolean;
}

/** The nodes of a control plane, with the managers that run on each, each a process of its own. */
export class ControlPlane implements AsyncDisposable {
  readonly journal: Journal;
  readonly options: PlaneOptions;
  readonly #managers = new Set<Manager>();
  readonly #failures: string[] = [];
  /** How many managers were ended by {@link kill}. */
  kills = 0;
  /** How many managers were held up by {@link pause}. */
  pauses = 0;

  constructor(options: PlaneOptions) {
    this.options = options;
    this.journal = new Journal(options.isUndisturbed);
  }

  get managers(): readonly Manager[] {
    return [...this.#managers];
  }

  /** Brings a node to exactly these releases: what it has beside them is stopped first, as an upgrade does. */
  async deploy(node: string, releases: readonly Release[]): Promise<void> {
    const present = this.managers.filter((one) => one.node === node);
    await Promise.all(present.filter(({ release }) => !releases.includes(release)).map((one) => this.stop(one)));
    const missing = releases.filter((release) => !present.some((one) => one.release === release));
    await Promise.all(missing.map((release) => this.start(node, release)));
  }

  /** Starts a manager and waits until it is connected. */
  async start(node: string, release: Release): Promise<Manager> {
    const { component, controllers, flags = [], version } = release;
    const own = [component, version, node, controllers.join(",")];
    const { endpoint, leaseDurationMs, namespace } = this.options;
    const about = [`--endpoint=${endpoint}`, `--namespace=${namespace}`, `--lease-duration=${leaseDurationMs}ms`];
    const runner = `${component} ${version} on ${node}`;
    const lines: Line[] = [];
    const process = startProcess(globalThis.process.execPath, {
      name: runner,
      args: [program, ...own, ...about, ...flags],
    });
    process.output.onLine((text) => {
      if (!text.startsWith("{")) return;
      const line = JSON.parse(text) as Line;
      lines.push(line);
      this.journal.take(runner, line);
    });
    const manager = { node, release, runner, process, lines };
    this.#managers.add(manager);
    void process.ended.then((exit) => this.#supervise(manager, exit));
    await process.waitForLine('"kind":"up"', { timeoutMs: 60_000 });
    return manager;
  }

  /** Stops a manager as an upgrade does; it must end well, or have ended itself because its lock was lost. */
  async stop(manager: Manager): Promise<void> {
    this.#managers.delete(manager);
    // One that was just started again does not listen to signals yet.
    await manager.process.waitForLine('"kind":"up"', { timeoutMs: 60_000 }).catch(() => undefined);
    manager.process.terminate();
    const exit = await manager.process.waitForExit({ timeoutMs: 60_000 });
    if (exit.code !== 0 && !hasLost(exit)) throw new Error(failure(manager, exit));
  }

  /** Ends a manager at once, as a crash does. */
  async kill(manager: Manager): Promise<void> {
    this.#managers.delete(manager);
    this.kills += 1;
    await manager.process.kill9();
  }

  /** Pauses a manager, and gives it time to find out afterwards. */
  async pause(manager: Manager, durationMs: number): Promise<void> {
    this.pauses += 1;
    await manager.process.pause();
    await systemClock.sleep(durationMs);
    manager.process.resume();
    await systemClock.sleep(3_000);
  }

  /** Waits until each of these controllers runs and acts. */
  async runs(controllers: readonly string[], isRight: (runner: string, lock: string) => boolean): Promise<void> {
    const isRunning = (controller: string) => {
      if (this.#failures.length > 0) throw new Error(this.#failures.join("\n"));
      const found = this.journal.running(controller);
      return found !== undefined && isRight(found.runner, found.lock);
    };
    const describe = `${controllers.join(", ")} to run where they should`;
    await waitFor(() => controllers.every(isRunning), { timeoutMs: 60_000, intervalMs: 20, describe }).catch(
      (error: unknown) => {
        const output = this.managers.map(({ process }) => `${process.name}:\n${process.output.tail()}`);
        throw new Error(`${error instanceof Error ? error.message : error}\n${output.join("\n")}`);
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const managers = this.managers;
    this.#managers.clear();
    await Promise.all(managers.map(({ process }) => process[Symbol.asyncDispose]()));
  }

  /** A manager that ended itself because it lost its lock is started again; every other end was asked for or is wrong. */
  #supervise(manager: Manager, exit: ProcessExit): void {
    this.journal.end(manager.runner);
    if (!this.#managers.delete(manager)) return;
    if (hasLost(exit)) void this.start(manager.node, manager.release).catch(() => undefined);
    else this.#failures.push(failure(manager, exit));
  }
}

/** The SDK ends a process that acts past its term: with code 20, or with -9 if its main thread does not react. */
function hasLost({ code, signal }: ProcessExit): boolean {
  return code === lossExitCode || signal === "SIGKILL";
}

function failure({ process, runner }: Manager, { code }: ProcessExit): string {
  return `${runner} ended with ${code}:\n${process.output.tail()}`;
}
