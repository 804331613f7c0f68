import type { HealthHandler, HealthOptions } from "../health/leader-health.ts";
import type { ClientContext } from "../instance/client-context.ts";
import type { LeaseName } from "../term/lease-name.ts";
import { callSafely } from "../term/typed-listeners.ts";
import { optionError } from "../timing/duration-input.ts";
import type { Assignment } from "./assignment.ts";
import type { Controller } from "./controller.ts";
import type { ControllerManagerOptions } from "./manager-options.ts";
import { planManager } from "./manager-plan.ts";
import { ManagerRun } from "./manager-run.ts";

/** One controller of a manager, as it stands. */
export interface ControllerStanding extends Assignment {
  /** The token of the controller's own lease while it runs here; undefined while it does not. */
  readonly token: bigint | undefined;
  /** The migration service does not let it run here. */
  readonly isRefused: boolean;
}

/** What a manager needs of its client. */
export interface ManagerClient {
  /** Keeps the client open until the promise is settled. */
  track<Result>(work: Promise<Result>): Promise<Result>;
  health(leases: readonly LeaseName[], options: HealthOptions): HealthHandler;
}

/**
 * Runs controllers where they belong: under the component's primary lock, under a migration lock, or nowhere. A
 * controller runs only while this process holds both that lock and a lease of the controller's own, so it never runs
 * twice, whatever the configurations of other components say.
 */
export class ControllerManager {
  readonly #context: ClientContext;
  readonly #client: ManagerClient;
  readonly #options: ControllerManagerOptions;
  readonly #controllers = new Map<string, Controller>();
  #run: ManagerRun | undefined;

  constructor(context: ClientContext, client: ManagerClient, options: ControllerManagerOptions) {
    if (options.name === "") throw optionError("name", "must name the component", "nothing");
    planManager(context, options, []);
    this.#context = context;
    this.#client = client;
    this.#options = options;
  }

  /** What becomes of each controller, in the order in which they were added. */
  get controllers(): readonly ControllerStanding[] {
    return this.#plan().assignments.map((assignment) => ({
      ...assignment,
      token: this.#run?.tokens.get(assignment.controller),
      isRefused: this.#run?.refused.has(assignment.controller) ?? false,
    }));
  }

  /** Adds a controller, before the run. Each name once, also if it is to run elsewhere. */
  add(controller: Controller): this {
    const { name } = controller;
    if (this.#run !== undefined) throw optionError("controller", "must be added before the run", name);
    if (this.#controllers.has(name)) throw optionError("controller", "must have a name of its own", name);
    planManager(this.#context, this.#options, [name]);
    this.#controllers.set(name, controller);
    return this;
  }

  /**
   * Runs until the signal is aborted or the client closes, then stops everything, gives the locks back and resolves.
   * Rejects when a controller fails or a lock can never be had, after the same. Once only.
   */
  async run(signal?: AbortSignal): Promise<void> {
    if (this.#run !== undefined) throw optionError("run", "must be called once", "a second call");
    const { closing } = this.#context;
    const { exitOnLoss = false, onEvent } = this.#options;
    const plan = this.#plan();
    const emit: ConstructorParameters<typeof ManagerRun>[0]["emit"] = (event) => {
      if (onEvent !== undefined) callSafely(onEvent, event);
    };
    for (const message of plan.warnings) emit({ kind: "warning", message });
    this.#run = new ManagerRun({
      context: this.#context,
      plan,
      controllers: this.#controllers,
      exitOnLoss,
      stop: signal === undefined ? closing : AbortSignal.any([signal, closing]),
      emit,
    });
    await this.#client.track(this.#run.finished);
  }

  /** A handler of `/leader`, `/standby` and `/healthz` that watches the primary and every migration lock. */
  health(options: HealthOptions = {}): HealthHandler {
    const { locks } = this.#plan();
    return this.#client.health(
      [...locks.values()].flatMap(({ leases }) => leases),
      options,
    );
  }

  #plan() {
    return planManager(this.#context, this.#options, [...this.#controllers.keys()]);
  }
}
