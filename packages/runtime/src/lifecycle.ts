import { type Clock, Fault, formatDuration, type Timer } from "@tenure/kernel";
import type { Logger } from "pino";
import type { Health } from "./health.ts";
import { type Host, type StopSignal, stopSignals } from "./host.ts";
import { exitCodeOf, lastLines } from "./last-line.ts";
import { StopStack } from "./stop-stack.ts";

/** What a life needs of its process. */
export interface LifecycleOptions {
  readonly service: string;
  readonly host: Pick<Host, "onSignal" | "onCrash" | "complain" | "exit"> & { readonly clock: Clock };
  readonly log: Logger;
  readonly health: Health;
  /** The bound of an orderly stop. */
  readonly stopTimeoutMs: number;
}

/** The readiness condition that the lifecycle owns. */
const condition = "lifecycle";

/**
 * A service's life from boot to exit.
 *
 * The first SIGTERM or SIGINT stops in order: not ready, then every step of `steps`, last in first out, then exit 0.
 * A stop that outlasts its bound exits with 1 and names the step that hung; a second signal exits at once. A failed
 * boot stops in the same order and exits with 1, or 2 for a configuration. An error that nobody caught exits with 1
 * without an orderly stop, because nothing is known about the state any more.
 */
export class Lifecycle {
  /** What must be undone when the service stops. */
  readonly steps = new StopStack();
  readonly #options: LifecycleOptions;
  readonly #stopping = new AbortController();
  #boot: Promise<void> = Promise.resolve();
  #step = "boot";
  #finish: () => void = () => {};
  #isOver = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    options.health.set(condition, false, "starting");
  }

  /** Aborted when the service begins to stop. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Boots, serves, and resolves when the process has been told to exit. */
  run(boot: () => Promise<void>): Promise<void> {
    const { host, health } = this.#options;
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    host.onSignal((signal) => this.#onSignal(signal));
    host.onCrash((thrown) => this.crash(thrown));
    this.#boot = boot().then(
      () => {
        if (!this.stopping.aborted) health.set(condition, true);
      },
      (thrown: unknown) => this.fail(thrown),
    );
    return finished;
  }

  /** Says what goes on while the service is not ready yet. */
  starting(why: string): void {
    if (!this.stopping.aborted) this.#options.health.set(condition, false, `starting: ${why}`);
  }

  /** Stops in order because the service cannot start or go on. Does nothing when it is stopping already. */
  fail(thrown: unknown): void {
    if (this.stopping.aborted) return;
    this.#options.log.debug({ err: thrown }, "service fails");
    void this.#stop("failed", exitCodeOf(thrown), lastLines(this.#options.service, thrown));
  }

  /** Ends the process at once, with the error in the log and as the last line. */
  crash(thrown: unknown): void {
    this.#options.log.fatal({ err: thrown }, "crash: an error that nobody caught");
    this.#exit(1, lastLines(this.#options.service, thrown));
  }

  #onSignal(signal: StopSignal): void {
    if (this.stopping.aborted) this.#exit(stopSignals[signal], []);
    else void this.#stop(signal, 0, []);
  }

  async #stop(why: string, exitCode: number, lines: readonly string[]): Promise<void> {
    const { log, health } = this.#options;
    health.set(condition, false, `stopping: ${why}`);
    log.info({ why }, "stopping");
    const bound = this.#bound(exitCode, lines);
    this.#stopping.abort(new Fault({ code: "CANCELLED", reason: "STOPPING", message: "the service is stopping" }));
    await this.#boot;
    const failures = await this.steps.run((step) => {
      this.#step = step;
      log.debug({ step }, "stop step");
    });
    bound.cancel();
    for (const { step, error } of failures) log.error({ step, err: error }, "stop step failed");
    if (failures.length === 0) log.info("stopped");
    const complaints = failures.flatMap(({ step, error }) => this.#lines(`stop step ${step} failed: ${textOf(error)}`));
    this.#exit(failures.length === 0 ? exitCode : exitCode || 1, [...complaints, ...lines]);
  }

  #bound(exitCode: number, lines: readonly string[]): Timer {
    const { host, log, stopTimeoutMs } = this.#options;
    return host.clock.schedule(stopTimeoutMs, () => {
      const message = `did not stop within ${formatDuration(stopTimeoutMs)}: step ${this.#step} hung`;
      log.error({ step: this.#step }, "stop timed out");
      this.#exit(exitCode || 1, [...lines, ...this.#lines(message)]);
    });
  }

  #lines(message: string): readonly string[] {
    return lastLines(this.#options.service, message);
  }

  #exit(code: number, lines: readonly string[]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const line of lines) this.#options.host.complain(line);
    this.#finish();
    this.#options.host.exit(code);
  }
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
